import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { BundledPackages } from './bundle-packages.ts';

/** Where npm has installed the packages. */
export const NODE_MODULES = resolve(import.meta.dirname, '..', '..', 'node_modules');

/** In which npm says what it has installed there. */
export const INSTALLED = '.package-lock.json';

const MANIFEST = 'manifest.json';

/** What is kept, as it lies beside the files. */
interface Manifest {
  /** Name of a file to the digest of its text. */
  readonly digests: Readonly<Record<string, string>>;
  readonly entries: BundledPackages['entries'];
}

/** The packages that are kept. */
export interface KeptPackages extends Pick<BundledPackages, 'entries'> {
  readonly folder: string;
}

/** The packages that an earlier start has kept, if they are those that are installed now, and each file is whole. */
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
 * Keeps them for the starts that follow: wholly or, where it ends meanwhile, not at all.
 * @throws where that folder cannot be written
 */
export function writeKept({ files, entries }: BundledPackages, nodeModules = NODE_MODULES): void {
  const folder = keptFolder(nodeModules);
  const half = `${folder}.${randomUUID()}`;
  const digests = Object.fromEntries([...files].map(([name, text]) => [name, digestOf(text)]));
  try {
    mkdirSync(half, { recursive: true });
    for (const [name, text] of files) writeFileSync(join(half, name), text);
    writeFileSync(join(half, MANIFEST), JSON.stringify({ digests, entries } satisfies Manifest));
    // There may be one that is broken.
    rmSync(folder, { recursive: true, force: true });
    renameSync(half, folder);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}

/** Other packages, another way to bundle them and another place lead to another folder. */
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
