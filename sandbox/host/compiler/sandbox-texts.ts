import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { nativeAddon } from './child-program.ts';
import type { Compiler } from './compiler.ts';

const textsSchema = z.strictObject({
  /** See {@link Compiler.runtime}. */
  runtime: z.string(),
  /** See {@link Compiler.child}. */
  program: z.string(),
});

/** What each sandbox process runs before a plugin does. */
export type SandboxTexts = z.output<typeof textsSchema>;

const PREFIX = 'isolayer-sandbox-';

/**
 * The texts of the sandbox. Reads those that an earlier start stored beside Node's compile cache, if none of their sources
 * has changed. Otherwise builds and stores them. Stores nothing when the folder cannot be written.
 */
export async function sandboxTexts(
  compiler: Pick<Compiler, 'runtime' | 'child'>,
  sandboxDir: string,
  folder = getCompileCacheDir(),
): Promise<SandboxTexts> {
  if (folder === undefined) return await build(compiler);
  const name = `${PREFIX}${digest(sandboxDir)}.json`;
  const known = await keptIn(join(folder, name));
  if (known !== undefined) return known;
  const texts = await build(compiler);
  await keep(texts, folder, name).catch(() => undefined);
  return texts;
}

async function build(compiler: Pick<Compiler, 'runtime' | 'child'>): Promise<SandboxTexts> {
  const [runtime, program] = await Promise.all([compiler.runtime(), compiler.child()]);
  return { runtime, program };
}

async function keptIn(file: string): Promise<SandboxTexts | undefined> {
  try {
    return textsSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

async function keep(texts: SandboxTexts, folder: string, name: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const half = join(folder, `${name}.${randomUUID()}`);
  await writeFile(half, JSON.stringify(texts));
  await rename(half, join(folder, name));
  const outdated = (await readdir(folder)).filter((one) => one.startsWith(PREFIX) && one !== name);
  await Promise.all(outdated.map((one) => rm(join(folder, one), { force: true })));
}

/**
 * A digest of the sources, of the code that builds them, and of the installed packages, by their sizes and times:
 * reading them would cost a start more than all else that it does for the sandbox.
 */
function digest(sandboxDir: string): string {
  const root = dirname(sandboxDir);
  const files = [
    ...filesBelow(sandboxDir),
    ...filesBelow(import.meta.dirname),
    // Lists the packages that npm has installed.
    join(root, 'node_modules', '.package-lock.json'),
  ];
  const hash = createHash('sha256').update(nativeAddon());
  for (const file of files) {
    const { size, mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0, mtimeMs: 0 };
    hash.update(`\0${file}\0${size}\0${mtimeMs}`);
  }
  return hash.digest('hex').slice(0, 32);
}

/** The sources of the sandbox have tests and pages beside them, which are in none of the texts. */
const BESIDE = /^(?:test|docs)(?:\/|$)/;

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !BESIDE.test(path))
    .map((path) => join(folder, path))
    .sort();
}
