import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { codeOf } from './json-file.ts';
import type { Findings } from './problems.ts';
import type { Variables } from './secrets.ts';

/** Reads `.env` in the working directory. The process's own variables override it. */
export async function readVariables(env: Variables, cwd: string, findings: Findings): Promise<Variables> {
  try {
    return { ...parseEnv(await readFile(join(cwd, '.env'), 'utf8')), ...env };
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') findings.problem('.env', '', `cannot be read (${codeOf(error)})`);
    return env;
  }
}
