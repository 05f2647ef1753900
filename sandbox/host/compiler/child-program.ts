import { createRequire } from 'node:module';
import path from 'node:path';
import type { BuildOptions } from 'esbuild';

/**
 * How `sandbox/process/main.ts` is bundled. It is not minified: the lines of its stack traces are all that a dead child
 * leaves.
 */
export const CHILD_BUILD: BuildOptions = {
  bundle: true,
  write: false,
  format: 'cjs',
  platform: 'node',
  target: 'node26',
  external: ['isolated-vm'],
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'silent',
  tsconfigRaw: {},
};

/**
 * The program of a sandbox process as one script. The script evaluates to a function that takes Node's `require` and
 * runs the program.
 * @param bundle made as {@link CHILD_BUILD} says
 * @param addon absolute path of isolated-vm's native module. The system opens it, so that Node need not read any file
 */
export function childProgram(bundle: string, addon: string): string {
  return `(function (load) {
"use strict";
const addon = { exports: {} };
process.dlopen(addon, ${JSON.stringify(addon)});
const require = (name) => (name === "isolated-vm" ? addon.exports.ivm : load(name));
${bundle}})
//# sourceURL=isolayer-sandbox
`;
}

/**
 * The native module of isolated-vm for this system.
 * @throws Error when there is none
 */
export function nativeAddon(): string {
  const isolatedVm = createRequire(import.meta.url).resolve('isolated-vm');
  const { path: locate } = createRequire(isolatedVm)('node-gyp-build') as { path(folder: string): string };
  return locate(path.dirname(isolatedVm));
}
