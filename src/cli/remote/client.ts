import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ApiClient } from '../../client/client.ts';
import type { CommandArguments, CommandContext } from '../command.ts';
import { readCommandEnvironment } from '../settings.ts';

/** The options of every command that calls a server. */
export const REMOTE_OPTIONS = ['url', 'key'] as const;

/** The help text of these options. */
export const REMOTE_HELP =
  'The server is that of ISOLAYER_URL with the key of ISOLAYER_KEY, or of --url and --key, or this folder’s. --json is for programs.';

/** Returns a client for the server that is named in the options or environment, or for this folder's own. */
export async function createCommandClient(context: CommandContext, { options }: CommandArguments): Promise<ApiClient> {
  const named = options.get('url') ?? context.env['ISOLAYER_URL'];
  const key = options.get('key') ?? context.env['ISOLAYER_KEY'];
  const own = named === undefined || key === undefined ? await findLocalServer(context) : undefined;
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

/** The server of this folder's environment, and its key. */
export async function findLocalServer(context: CommandContext): Promise<{ url: string; key: string }> {
  const { APP_PORT, API_KEY, DATA_DIR } = await readCommandEnvironment(context);
  const file = join(resolve(context.cwd, DATA_DIR), 'api-key');
  return { url: `http://127.0.0.1:${APP_PORT}`, key: API_KEY ?? (await readFile(file, 'utf8').catch(() => '')).trim() };
}

/** Characters that control a terminal. Displayed texts may come from strangers. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Escapes a text so that it cannot control the terminal. */
export function escapeForTerminal(text: string): string {
  return text.replaceAll(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Formats a table, with each column as wide as its longest cell. */
export function formatTable(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [heads, ...rows.map((row) => row.map(escapeForTerminal))];
  const widths = heads.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Writes a value as one line of JSON. Integers keep all their digits. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? inner.toString() : inner));
}

/** Formats items as a table for people, or each as a line of JSON for programs. */
export function formatItems<Item>(
  items: readonly Item[],
  { heads, row, isJson }: { heads: readonly string[]; row: (item: Item) => string[]; isJson: boolean },
): string[] {
  return isJson ? items.map(jsonLine) : formatTable(heads, items.map(row));
}
