import type { BuildFailure, Message } from 'esbuild';
import { unresolvedReason } from './import-wall.ts';
import { ended, type HostFailure } from './outcome.ts';

/** Errors of one build that an answer shows. */
const SHOWN = 5;

/** Most characters of an error: it may name what the author spells out at any length. */
const TEXT_CHARS = 500;

/** A build that ended with errors as the answer to a call: file, line, column and text of each. */
export function compileFailure(pluginId: string, error: unknown): HostFailure {
  if (!isBuildFailure(error)) {
    const message = error instanceof Error ? error.message : String(error);
    return { ...ended('COMPILE_ERROR', `Compilation failed: ${message}`), details: { pluginId } };
  }
  const problems = error.errors.slice(0, SHOWN).map(problemOf);
  const lines = problems.map(({ place, text }) => `${place}${text}`);
  if (error.errors.length > SHOWN) lines.push(`and ${error.errors.length - SHOWN} more`);
  const first = problems[0];
  return {
    ...ended('COMPILE_ERROR', `Compilation failed: ${lines.join('\n')}`),
    details: { pluginId, file: first?.file ?? null, line: first?.line ?? null, column: first?.column ?? null },
  };
}

/** Lines and columns count from 1, as editors and stack traces do. */
function problemOf({ location, text: said }: Message) {
  const unresolved = /^Could not resolve "(.+)"$/.exec(said)?.[1];
  const text = (unresolved === undefined ? said : unresolvedReason(unresolved)).slice(0, TEXT_CHARS);
  if (location === null) return { place: '', text };
  const file = `plugins/${location.file}`;
  // The bundler counts bytes.
  const column = Buffer.from(location.lineText).subarray(0, location.column).toString().length + 1;
  return { place: `${file}:${location.line}:${column}: `, text, file, line: location.line, column };
}

/** Whether a build says what is wrong with its files, and did not end for another cause. */
export function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}
