import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { JsonTextError, parseJson } from '../domain/json/json-text.ts';
import type { ConfigurationFindings } from './problems.ts';

/**
 * Reads a JSON file, with integers beyond 2^53 as decimal strings. An unreadable or invalid file becomes a problem. The
 * problem gives line and column, and quotes nothing, because the file may hold secrets.
 * @param shown the file's name in messages
 */
export async function readJsonFile(
  path: string,
  shown: string,
  findings: ConfigurationFindings,
  adviceWhenMissing?: string,
): Promise<{ value: unknown } | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = fileErrorCode(error);
    if (code === 'ENOENT') findings.problem(shown, '', 'there is no such file', adviceWhenMissing);
    else findings.problem(shown, '', `cannot be read (${code})`);
    return undefined;
  }
  try {
    // Editors on Windows begin a file with a byte order mark.
    return { value: parseJson(text.replace(/^\uFEFF/, ''), 'exact') };
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    findings.problem(shown, '', `is not valid JSON: ${error.message}`);
    return undefined;
  }
}

/** Returns a path for messages: relative to the working directory, or absolute outside of it. */
export function displayPath(cwd: string, path: string): string {
  const inside = relative(cwd, path);
  return inside === '' ? '.' : inside.startsWith('..') ? path : inside;
}

/** Returns the code of a file system error, such as `EACCES`. */
export function fileErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
