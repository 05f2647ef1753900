import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { GUEST_MODULES, STAND_INS } from '../../../sandbox/contract.ts';
import type { CommandContext } from '../command.ts';
import { readCommandEnvironment } from '../settings.ts';

const GUEST = resolve(import.meta.dirname, '..', '..', '..', 'sandbox', 'guest');
/** The folder of types. No plugin can have this name. */
export const TYPES_DIR = '.isolayer';

/** The sources of the authors' modules, below {@link GUEST}. */
const SOURCES = ['plugin-api.ts', 'plugin-error.ts'];
const FOLDERS = ['modules', 'sdk', 'types'];

/** Packages whose types describe globals. */
const PACKAGES = {
  'buffer/index.js': ['buffer/index.d.ts', 'buffer.d.ts'],
  'web-streams-polyfill': ['web-streams-polyfill/types/ponyfill.d.ts', 'streams.d.ts'],
} as const;

const OPTIONS = {
  compilerOptions: {
    target: 'es2024',
    lib: ['esnext'],
    module: 'esnext',
    moduleResolution: 'bundler',
    noEmit: true,
    skipLibCheck: true,
    strict: true,
    allowJs: true,
    resolveJsonModule: true,
    allowImportingTsExtensions: true,
    paths: {
      ...Object.fromEntries(Object.entries(STAND_INS).map(([name, file]) => [name, [`./modules/${file}`]])),
      // In a checkout of the service, the package of this name is the service itself.
      'isolayer/*': ['./kit.d.ts'],
      ...Object.fromEntries(Object.entries(PACKAGES).map(([name, [, file]]) => [name, [`./${file}`]])),
    },
  },
  include: ['../**/*.ts', './*.d.ts', './types/*.d.ts'],
  exclude: ['../**/node_modules'],
};

/** `plugin types`: installs the types of plugins. */
export async function installTypes(context: CommandContext): Promise<number> {
  const { PLUGINS_DIR } = await readCommandEnvironment(context);
  const folder = resolve(context.cwd, PLUGINS_DIR);
  await mkdir(folder, { recursive: true });
  await writeTypes(context, folder);
  return 0;
}

/** Writes the types into the plugins folder, and a tsconfig.json if there is none. */
export async function writeTypes({ cwd, say }: CommandContext, folder: string): Promise<void> {
  const types = join(folder, TYPES_DIR);
  await rm(types, { recursive: true, force: true });
  const inFolders = await Promise.all(
    FOLDERS.map(async (name) => (await readdir(join(GUEST, name))).map((file) => `${name}/${file}`)),
  );
  for (const name of [...SOURCES, ...inFolders.flat()]) {
    await mkdir(dirname(join(types, name)), { recursive: true });
    const text = await readFile(join(GUEST, name), 'utf8');
    // The author's compiler options must not apply to these files.
    await writeFile(join(types, name), name.endsWith('.d.ts') ? text : `// @ts-nocheck\n${text}`);
  }
  const { resolve: find } = createRequire(import.meta.url);
  for (const [source, file] of Object.values(PACKAGES)) {
    const [name = ''] = source.split('/');
    await copyFile(join(dirname(find(`${name}/package.json`)), source.slice(name.length + 1)), join(types, file));
  }
  await writeFile(join(types, 'imports.d.ts'), IMPORTS);
  await copyFile(join(import.meta.dirname, 'kit.d.ts'), join(types, 'kit.d.ts'));
  const hasNode = hasNodeTypes(folder);
  if (!hasNode) await writeFile(join(types, 'node-modules.d.ts'), nodeModules());
  const compilerOptions = { ...OPTIONS.compilerOptions, types: hasNode ? ['node'] : [] };
  await writeFile(join(types, 'tsconfig.json'), `${JSON.stringify({ ...OPTIONS, compilerOptions }, null, 2)}\n`);
  await writeFile(join(types, '.gitignore'), '*\n');
  say(`Written: ${relative(cwd, types)}, the types of plugins`);
  const config = join(folder, 'tsconfig.json');
  const base = `./${TYPES_DIR}/tsconfig.json`;
  if (!existsSync(config)) await writeFile(config, `${JSON.stringify({ extends: base }, null, 2)}\n`);
  else if (!(await readFile(config, 'utf8')).includes(base)) {
    say(`${relative(cwd, config)} is yours: add "extends": ${JSON.stringify(base)} to it, or the types are not found`);
  }
}

const IMPORTS = `/** The library that plugins written beside the reference import. */
declare module '*/lib/plugin' {
  export * from '@openzeppelin/relayer-sdk';
  export function runPlugin(main: (api: import('isolayer').PluginAPI, params: any) => unknown): void;
}
`;

/** Whether the author has installed the types of Node's modules. Then those are used. */
function hasNodeTypes(folder: string): boolean {
  try {
    createRequire(join(folder, 'tsconfig.json')).resolve('@types/node/package.json');
    return true;
  } catch {
    return false;
  }
}

/** Declares the Node modules that plugins have. They are untyped, except those that need type arguments. */
function nodeModules(): string {
  const untyped = GUEST_MODULES.filter((name) => name !== 'async_hooks').flatMap((name) => [name, `node:${name}`]);
  return `/** What plugins have of Node. Who wants the types of all its modules installs @types/node. */
${untyped.map((name) => `declare module '${name}';`).join('\n')}
/** Of tests, which run in Node itself. */
declare module 'node:test';
interface ImportMeta {
  readonly dirname: string;
}
declare module 'async_hooks' {
  export class AsyncLocalStorage<T> {
    static bind<F extends (...args: never[]) => unknown>(callback: F): F;
    static snapshot(): <A extends unknown[], R>(callback: (...args: A) => R, ...args: A) => R;
    run<A extends unknown[], R>(store: T, callback: (...args: A) => R, ...args: A): R;
    exit<A extends unknown[], R>(callback: (...args: A) => R, ...args: A): R;
    getStore(): T | undefined;
    enterWith(store: T): void;
    disable(): void;
  }
  export const AsyncResource: any;
  export const createHook: any;
  export function executionAsyncId(): number;
  export function triggerAsyncId(): number;
  export function executionAsyncResource(): object;
}
declare module 'node:async_hooks' {
  export * from 'async_hooks';
}
`;
}
