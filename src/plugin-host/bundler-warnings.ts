import type { LogLevel } from 'esbuild';

/**
 * esbuild's names for its warnings about code (https://esbuild.github.io/api/#log-override). Nobody is shown them, and
 * each carries the line that it is about: of a file of one long line, they would be many times its size.
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

/** Lets none of them be made. */
export const WITHOUT_WARNINGS: Record<string, LogLevel> = Object.fromEntries(
  WARNINGS.trim()
    .split(/\s+/)
    .map((name) => [name, 'silent']),
);
