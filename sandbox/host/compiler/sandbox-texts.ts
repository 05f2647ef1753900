import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
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
 * The texts of the sandbox. Reads those that an earlier start stored beside Node's compile cache, if all their sources
 * are the same. Otherwise builds and stores them. Stores nothing when the folder cannot be written.
 */
export async function sandboxTexts(
  compiler: Pick<Compiler, 'runtime' | 'child'>,
  sandboxDir: string,
  folder = getCompileCacheDir(),
): Promise<SandboxTexts> {
  if (folder === undefined) return await build(compiler);
  const name = `${PREFIX}${await digest(sandboxDir)}.json`;
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

/** A digest of the sources, of the code that builds them, and of the installed packages. */
async function digest(sandboxDir: string): Promise<string> {
  const root = dirname(sandboxDir);
  const files = [
    ...(await filesBelow(sandboxDir)),
    ...(await filesBelow(import.meta.dirname)),
    // Lists the packages that npm has installed.
    join(root, 'node_modules', '.package-lock.json'),
  ];
  const hash = createHash('sha256').update(nativeAddon());
  for (const bytes of await Promise.all(files.map((file) => readFile(file).catch(() => Buffer.alloc(0))))) {
    hash.update(`\0${bytes.length}\0`).update(bytes);
  }
  return hash.update(files.join('\0')).digest('hex').slice(0, 32);
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
