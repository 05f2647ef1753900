import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

/** The parts of the repository that a service needs to run. */
const SHIPPED = ['package.json', 'bin', 'src', 'sandbox', 'plugins', 'config'];

interface Lockfile {
  packages: Record<string, { dev?: boolean; devOptional?: boolean; link?: boolean }>;
}

/**
 * A folder as it is after a new installation: the sources and the production packages. Files are hard-linked where the
 * file system allows it. Symbolic links do not work, because the sandbox may read only its own packages.
 */
export async function shippedCopy(t: Test): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'isolayer-shipped-'));
  t.teardown(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  for (const path of SHIPPED) cpSync(join(root, path), join(dir, path), { recursive: true });
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lockfile;
  const needed = Object.entries(packages)
    .filter(([path, { dev, devOptional, link }]) => path !== '' && !dev && !devOptional && !link)
    .map(([path]) => path)
    .filter((path) => path.startsWith('node_modules/') && existsSync(join(root, path)));
  await copyPackages(dir, needed);
  return dir;
}

/** Puts packages that are installed here into another folder, by their paths. */
export async function copyPackages(dir: string, paths: readonly string[]): Promise<void> {
  const copy = (flags: string) =>
    run('cp', [flags, '--parents', '-t', dir, 'node_modules/.bin', ...paths], { cwd: root });
  await copy('-al').catch(() => copy('-a'));
}
