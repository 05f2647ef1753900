import type { BuildOptions, TransformOptions } from 'esbuild';
import { WITHOUT_WARNINGS } from './bundler-warnings.ts';

/** How esbuild reads and writes code of the guest: standard JavaScript for a bare V8 isolate. */
export const GUEST_SYNTAX = {
  format: 'iife',
  target: 'es2024',
  charset: 'utf8',
  logLevel: 'silent',
  logOverride: WITHOUT_WARNINGS,
  // The authors' tsconfig serves their editors; paths and plugins in it must not redirect imports.
  tsconfigRaw: {},
} as const satisfies BuildOptions & TransformOptions;
