import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { GUEST_MODULES } from '../../../sandbox/guest-modules.ts';
import type { CommandContext } from '../command.ts';
import { environmentOf } from '../settings.ts';

const GUEST = resolve(import.meta.dirname, '..', '..', '..', 'sandbox', 'guest');
/** A name that is never a plugin's. */
export const TYPES_DIR = '.isolayer';

/** What the modules for authors are made of, below {@link GUEST}. */
const SOURCES = ['plugin-api.ts', 'plugin-error.ts', 'globals.d.ts', 'web.d.ts', 'web-packages.d.ts'];
const FOLDERS = ['modules', 'sdk'];

/** Packages whose types describe globals. */
const PACKAGES = {
  'buffer/index.js': ['buffer/index.d.ts', 'buffer.d.ts'],
  'web-streams-polyfill': ['web-streams-polyfill/types/ponyfill.d.ts', 'streams.d.ts'],
} as const;

const OPTIONS = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024'],
    types: [],
    module: 'esnext',
    moduleResolution: 'bundler',
    noEmit: true,
    skipLibCheck: true,
    strict: true,
    allowJs: true,
    resolveJsonModule: true,
    allowImportingTsExtensions: true,
    paths: {
      isolayer: ['./modules/relayer-sdk.ts'],
      '@openzeppelin/relayer-sdk': ['./modules/relayer-sdk.ts'],
      '@openzeppelin/relayer-sdk/*': ['./modules/relayer-sdk.ts'],
      ...Object.fromEntries(Object.entries(PACKAGES).map(([name, [, file]]) => [name, [`./${file}`]])),
    },
  },
  include: ['../**/*.ts', './*.d.ts'],
  exclude: ['../**/node_modules', '../**/*.test.ts'],
};

/** `plugin types`. */
export async function installTypes(context: CommandContext): Promise<number> {
  const { PLUGINS_DIR } = await environmentOf(context);
  const folder = resolve(context.cwd, PLUGINS_DIR);
  await mkdir(folder, { recursive: true });
  await writeTypes(context, folder);
  return 0;
}

/** Writes the types beside plugins, and a tsconfig.json where there is none. */
export async function writeTypes({ cwd, say }: CommandContext, folder: string): Promise<void> {
  const types = join(folder, TYPES_DIR);
  await rm(types, { recursive: true, force: true });
  const inFolders = await Promise.all(
    FOLDERS.map(async (name) => (await readdir(join(GUEST, name))).map((file) => `${name}/${file}`)),
  );
  for (const name of [...SOURCES, ...inFolders.flat()]) {
    await mkdir(dirname(join(types, name)), { recursive: true });
    const text = await readFile(join(GUEST, name), 'utf8');
    // The options of an author are for the author's files.
    await writeFile(join(types, name), name.endsWith('.d.ts') ? text : `// @ts-nocheck\n${text}`);
  }
  const { resolve: find } = createRequire(import.meta.url);
  for (const [source, file] of Object.values(PACKAGES)) {
    const [name = ''] = source.split('/');
    await copyFile(join(dirname(find(`${name}/package.json`)), source.slice(name.length + 1)), join(types, file));
  }
  await writeFile(join(types, 'imports.d.ts'), imports());
  await writeFile(join(types, 'tsconfig.json'), `${JSON.stringify(OPTIONS, null, 2)}\n`);
  await writeFile(join(types, '.gitignore'), '*\n');
  say(`Written: ${relative(cwd, types)}, the types of plugins`);
  const config = join(folder, 'tsconfig.json');
  const base = `./${TYPES_DIR}/tsconfig.json`;
  if (!existsSync(config)) await writeFile(config, `${JSON.stringify({ extends: base }, null, 2)}\n`);
  else if (!(await readFile(config, 'utf8')).includes(base)) {
    say(`${relative(cwd, config)} is yours: add "extends": ${JSON.stringify(base)} to it, or the types are not found`);
  }
}

/** What can be imported besides packages. Who wants the types of Node's modules installs @types/node. */
function imports(): string {
  const modules = GUEST_MODULES.flatMap((name) => [name, `node:${name}`]);
  return [
    '/** The library that plugins written beside the reference import. */',
    "declare module '*/lib/plugin' {\n  export * from '@openzeppelin/relayer-sdk';\n  export function runPlugin(main: unknown): never;\n}",
    '/** What plugins have of Node. */',
    ...modules.map((name) => `declare module '${name}';`),
    '',
  ].join('\n');
}
