import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';
import { GUEST_MODULES } from '../../../../sandbox/guest-modules.ts';

/** Where the modules of Node lie that the guest makes itself. */
export const PROVIDED = 'node';

const NAMES: ReadonlySet<string> = new Set(GUEST_MODULES);

/** The name of a module of Node, without `node:`; undefined where a specifier means none. */
export function nodeModule(specifier: string): string | undefined {
  return isBuiltin(specifier) ? specifier.replace(/^node:/, '') : undefined;
}

/** Whether the guest's world has a module of Node. */
export function isProvided(name: string): boolean {
  return NAMES.has(name);
}

/** A module of CommonJS that is what the guest makes of that name. */
export function providedText(name: string): string {
  return `module.exports = ${providedCall(name)};`;
}

/** What the guest makes of a name, as an expression. */
export function providedCall(name: string): string {
  return `globalThis[Symbol.for("isolayer.module")](${JSON.stringify(name)})`;
}

/** Packages of the same purpose that the parts of the runtime ask for, and that would be a second of each. */
const SAME: ReadonlyMap<string, string> = new Map([
  ['process/', 'process'],
  ['string_decoder/', 'string_decoder'],
]);

/** They make copies of all methods of the language, by these two names. */
const COPIES_ALL =
  /node_modules\/(?:node-inspect-extracted\/dist\/inspect|@pkgjs\/parseargs\/internal\/primordials)\.js$/;

/**
 * Has the packages that parts of the runtime are made of find each other, and the web's own classes.
 * @param plainIntrinsics the file that says what the language is like for {@link COPIES_ALL}
 */
export function partImports(plainIntrinsics: string): Plugin {
  return {
    name: 'part-imports',
    setup(build) {
      build.onResolve({ filter: /^(?:node:)?[a-z_]+\/?$/ }, ({ path }) => {
        const name = SAME.get(path) ?? nodeModule(path);
        return name !== undefined && isProvided(name) ? { path: name, namespace: PROVIDED } : undefined;
      });
      // Only looked for where there is no global of that name.
      build.onResolve({ filter: /^abort-controller$/ }, ({ path }) => ({ path, namespace: 'empty' }));
      build.onLoad({ filter: /./, namespace: 'empty' }, () => ({ contents: '', loader: 'empty' }));
      build.onLoad({ filter: COPIES_ALL }, async ({ path }) => ({
        contents: `var { globalThis, Reflect } = require(${JSON.stringify(plainIntrinsics)});${await readFile(path, 'utf8')}`,
        loader: 'js',
      }));
      build.onLoad({ filter: /./, namespace: PROVIDED }, ({ path }) => ({
        contents: providedText(path),
        loader: 'js',
      }));
    },
  };
}
