import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ApiClient } from '../../client/client.ts';
import type { CommandContext, Given } from '../command.ts';
import { environmentOf } from '../settings.ts';

/** The options of every command that calls a server. */
export const REMOTE_OPTIONS = ['url', 'key'] as const;

/** The help text of these options. */
export const REMOTE_HELP =
  'The server is that of ISOLAYER_URL with the key of ISOLAYER_KEY, or of --url and --key, or this folder’s. --json is for programs.';

/** Returns a client for the server that is named in the options or environment, or for this folder's own. */
export async function clientOf(context: CommandContext, { options }: Given): Promise<ApiClient> {
  const named = options.get('url') ?? context.env['ISOLAYER_URL'];
  const key = options.get('key') ?? context.env['ISOLAYER_KEY'];
  const own = named === undefined || key === undefined ? await ownServer(context) : undefined;
  const url = (named ?? own?.url ?? '').replace(/\/+$/, '');
  return new ApiClient({
    url,
    key: key ?? own?.key ?? '',
    fetch: (...request) =>
      context.request(...request).catch((error: unknown) => {
        const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
        throw new Error(`No server answers at ${url} (${reason})`, { cause: error });
      }),
  });
}

async function ownServer(context: CommandContext): Promise<{ url: string; key: string }> {
  const { APP_PORT, API_KEY, DATA_DIR } = await environmentOf(context);
  const file = join(resolve(context.cwd, DATA_DIR), 'api-key');
  return { url: `http://127.0.0.1:${APP_PORT}`, key: API_KEY ?? (await readFile(file, 'utf8').catch(() => '')).trim() };
}
