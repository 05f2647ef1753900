import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { BundledPackages } from './bundle-packages.ts';

/** Where npm has installed the packages. */
export const NODE_MODULES = resolve(import.meta.dirname, '..', '..', 'node_modules');

/** The file in which npm records what it has installed there. */
export const INSTALLED = '.package-lock.json';

const MANIFEST = 'manifest.json';

/** The record of the stored bundles. It lies beside their files. */
interface Manifest {
  /** The digests of the files' texts, by name. */
  readonly digests: Readonly<Record<string, string>>;
  readonly entries: BundledPackages['entries'];
}

/** The stored bundles of the packages. */
export interface KeptPackages extends Pick<BundledPackages, 'entries'> {
  readonly folder: string;
}

/**
 * Reads the bundles that an earlier start has stored. Undefined when other packages are installed now, or a file is not
 * whole.
 */
export function readKept(nodeModules = NODE_MODULES): KeptPackages | undefined {
  try {
    const folder = keptFolder(nodeModules);
    const { digests, entries } = JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8')) as Manifest;
    const isWhole = ([name, digest]: [string, string]) => digestOf(readFileSync(join(folder, name))) === digest;
    return Object.entries(digests).every(isWhole) ? { folder, entries } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Stores the bundles for later starts. If the process ends meanwhile, it stores nothing.
 * @throws Error when the folder cannot be written
 */
export function writeKept({ files, entries }: BundledPackages, nodeModules = NODE_MODULES): void {
  const folder = keptFolder(nodeModules);
  const half = `${folder}.${randomUUID()}`;
  const digests = Object.fromEntries([...files].map(([name, text]) => [name, digestOf(text)]));
  try {
    mkdirSync(half, { recursive: true });
    for (const [name, text] of files) writeFileSync(join(half, name), text);
    writeFileSync(join(half, MANIFEST), JSON.stringify({ digests, entries } satisfies Manifest));
    // A broken folder may be there.
    rmSync(folder, { recursive: true, force: true });
    renameSync(half, folder);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}

/** The folder of the bundles. It depends on the installed packages, on the code of this folder, and on its place. */
function keptFolder(nodeModules: string): string {
  const hash = createHash('sha256').update(import.meta.dirname);
  hash.update(readFileSync(join(nodeModules, INSTALLED)));
  for (const name of readdirSync(import.meta.dirname).sort()) {
    hash.update(`\0${name}\0`).update(readFileSync(join(import.meta.dirname, name)));
  }
  return join(nodeModules, '.cache', 'isolayer', `packages-${hash.digest('hex').slice(0, 32)}`);
}

function digestOf(text: Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}
