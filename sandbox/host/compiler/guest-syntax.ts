import { basename, extname } from 'node:path';
import type { BuildOptions, Loader, LogLevel, TransformOptions } from 'esbuild';

/**
 * esbuild's names for its warnings about code (https://esbuild.github.io/api/#log-override). The service does not show
 * them. Each warning carries its line of code: for a file of one long line, the warnings would be many times the file's
 * size.
 */
const WARNINGS = `
  ambiguous-reexport assert-to-with assert-type-json assign-to-constant assign-to-define assign-to-import bigint
  call-import-namespace class-name-will-throw commonjs-variable-in-esm css-syntax-error delete-super-property
  different-path-case direct-eval duplicate-case duplicate-class-member duplicate-object-key empty-glob
  empty-import-meta equals-nan equals-negative-zero equals-new-object html-comment-in-js ignored-bare-import
  ignored-dynamic-import import-is-undefined impossible-typeof indirect-require invalid-@charset invalid-@import
  invalid-@layer invalid-calc invalid-source-mappings js-comment-in-css missing-source-map package.json
  private-name-will-throw require-resolve-not-external semicolon-after-return suspicious-boolean-not
  suspicious-define suspicious-logical-operator suspicious-nullish-coalescing this-is-undefined-in-esm tsconfig.json
  undefined-composes-from unsupported-@charset unsupported-@namespace unsupported-css-nesting
  unsupported-css-property unsupported-dynamic-import unsupported-jsx-comment unsupported-regexp
  unsupported-require-call unsupported-source-map-comment`;

/** Turns all these warnings off. */
const WITHOUT_WARNINGS: Record<string, LogLevel> = Object.fromEntries(
  WARNINGS.trim()
    .split(/\s+/)
    .map((name) => [name, 'silent']),
);

/** How esbuild reads and writes code of the guest: standard JavaScript for a bare V8 isolate. */
export const GUEST_SYNTAX = {
  format: 'iife',
  target: 'es2024',
  charset: 'utf8',
  logLevel: 'silent',
  logOverride: WITHOUT_WARNINGS,
  // Ignores the authors' tsconfig, which is for their editors. Its paths and plugins must not redirect imports.
  tsconfigRaw: {},
} as const satisfies BuildOptions & TransformOptions;

/** esbuild's own loaders, by the end of a file's name (https://esbuild.github.io/content-types/). */
const LOADERS: ReadonlyMap<string, Loader> = new Map([
  ...['', '.js', '.mjs', '.cjs'].map((end) => [end, 'js'] as const),
  ...['.ts', '.mts', '.cts'].map((end) => [end, 'ts'] as const),
  ['.jsx', 'jsx'],
  ['.tsx', 'tsx'],
  ['.json', 'json'],
  ['.css', 'css'],
  ['.module.css', 'local-css'],
  ['.txt', 'text'],
]);

/** The advice to an author who imports a file of such a kind. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['.wasm', 'A plugin runs without WebAssembly: use a package, or a build of it, in plain JavaScript'],
  ['.node', 'It is a native module, and a plugin runs without Node.js: use a package in plain JavaScript'],
]);

const CODE = new Set<Loader>(['js', 'jsx', 'ts', 'tsx']);

/** The loader of a file, by the longest known end of its name; undefined when no end is known. */
export function guestLoader(file: string): Loader | undefined {
  const name = basename(file);
  let at = name.indexOf('.');
  if (at === -1) return LOADERS.get('');
  for (; at !== -1; at = name.indexOf('.', at + 1)) {
    const loader = LOADERS.get(name.slice(at));
    if (loader !== undefined) return loader;
  }
  return undefined;
}

/** Whether a file is code that runs. */
export function isCodeLoader(loader: Loader): boolean {
  return CODE.has(loader);
}

/** The most characters of a path that an error shows. Of a longer path it shows the end. */
const SHOWN_CHARS = 150;

/** The error of an import of a file for which there is no {@link guestLoader}. */
export function unknownKind(file: string): string {
  const kinds = [...LOADERS.keys()].filter((end) => end.lastIndexOf('.') === 0).join(' ');
  const instead = INSTEAD.get(extname(file)) ?? 'Put what it holds into a .json or .txt file, or into the code';
  return `Cannot import "${file.slice(-SHOWN_CHARS)}": what can be imported is ${kinds}. ${instead}`;
}
