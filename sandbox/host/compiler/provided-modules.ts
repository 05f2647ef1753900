import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';
import { GUEST_MODULES } from '../../contract.ts';

/** The namespace of the Node modules that the guest provides itself. */
export const PROVIDED_NAMESPACE = 'node';

const NAMES: ReadonlySet<string> = new Set(GUEST_MODULES);

/** The name of a module of Node, without `node:`; undefined where a specifier means none. */
export function nodeModuleName(specifier: string): string | undefined {
  return isBuiltin(specifier) ? specifier.replace(/^node:/, '') : undefined;
}

/** Whether the guest provides a Node module. */
export function isProvidedNodeModule(name: string): boolean {
  return NAMES.has(name);
}

/** A CommonJS module that exports the guest's module of that name. */
export function providedModuleText(name: string): string {
  return `module.exports = ${providedModuleExpression(name)};`;
}

/** An expression for the guest's module of that name. */
export function providedModuleExpression(name: string): string {
  return `globalThis[Symbol.for("isolayer.module")](${JSON.stringify(name)})`;
}

/**
 * Packages that parts of the runtime ask for, each with the guest's module for the same purpose. Bundling such a
 * package would add a second copy.
 */
const SAME: ReadonlyMap<string, string> = new Map([
  ['process/', 'process'],
  ['string_decoder/', 'string_decoder'],
]);

/** The package that copies all methods of the language, from `globalThis` and `Reflect`. */
const COPIES_ALL = /node_modules\/node-inspect-extracted\/dist\/inspect\.js$/;

/**
 * Lets the packages of the runtime's parts find each other, and the web's own classes.
 * @param plainIntrinsics the file that defines `globalThis` and `Reflect` for {@link COPIES_ALL}
 */
export function runtimePartImports(plainIntrinsics: string): Plugin {
  return {
    name: 'part-imports',
    setup(build) {
      build.onResolve({ filter: /^(?:node:)?[a-z_]+\/?$/ }, ({ path }) => {
        const name = SAME.get(path) ?? nodeModuleName(path);
        return name !== undefined && isProvidedNodeModule(name)
          ? { path: name, namespace: PROVIDED_NAMESPACE }
          : undefined;
      });
      // Packages load it only when there is no global of that name.
      build.onResolve({ filter: /^abort-controller$/ }, ({ path }) => ({ path, namespace: 'empty' }));
      build.onLoad({ filter: /./, namespace: 'empty' }, () => ({ contents: '', loader: 'empty' }));
      build.onLoad({ filter: COPIES_ALL }, async ({ path }) => ({
        contents: `var { globalThis, Reflect } = require(${JSON.stringify(plainIntrinsics)});${await readFile(path, 'utf8')}`,
        loader: 'js',
      }));
      build.onLoad({ filter: /./, namespace: PROVIDED_NAMESPACE }, ({ path }) => ({
        contents: providedModuleText(path),
        loader: 'js',
      }));
    },
  };
}
