import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CommandContext, Given } from '../command.ts';
import { environmentOf } from '../settings.ts';

/** An answer of the service, with its body parsed if it is JSON. */
export interface ServiceAnswer {
  status: number;
  requestId: string;
  body: unknown;
}

/** Sends a request to the running service. */
export type AskService = (path: string, init?: { method?: string; body?: string }) => Promise<ServiceAnswer>;

/** Finds the service: `--url`, or else that of this folder's environment. The key is `--key`, or else this folder's. */
export async function serviceOf(context: CommandContext, { options }: Given): Promise<AskService> {
  const environment = await environmentOf(context);
  const { APP_PORT, API_KEY, DATA_DIR } = environment;
  const base = options.get('url') ?? `http://127.0.0.1:${APP_PORT}`;
  const file = join(resolve(context.cwd, DATA_DIR), 'api-key');
  const key = options.get('key') ?? API_KEY ?? (await readFile(file, 'utf8').catch(() => '')).trim();
  return async (path, { method = 'GET', body } = {}) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const request = { method, headers, ...(body !== undefined && { body }) };
    const answer = await context.request(`${base}/api/v1${path}`, request).catch((error: unknown) => {
      const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      throw new Error(
        `No server answers at ${base} (${reason}): npm start starts the service, --url names another one`,
      );
    });
    const text = await answer.text();
    return { status: answer.status, requestId: answer.headers.get('x-request-id') ?? '', body: parsed(text) };
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
