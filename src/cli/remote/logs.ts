import { setTimeout as delay } from 'node:timers/promises';
import type { Schemas } from '../../client/api.ts';
import { type ApiClient, ApiError } from '../../client/client.ts';
import type { Command } from '../command.ts';
import { createCommandClient, escapeForTerminal, jsonLine, REMOTE_HELP, REMOTE_OPTIONS } from './client.ts';

type Call = Omit<Schemas['PluginCallEvent'], 'plugin_id'>;

/** How often in a row a broken stream is opened again. */
const TRIES = 10;
const PAUSE_MS = 1_000;

/** Shows the logs of plugins. */
export const logsCommand: Command = {
  usage: 'logs <plugin> [--follow] [--json]',
  summary: 'Show what the last calls of a plugin wrote; with --follow also what comes',
  more: [REMOTE_HELP, '--follow goes on until Ctrl-C, also over a restart of the server.'],
  flags: ['follow', 'json'],
  options: REMOTE_OPTIONS,
  arguments: 1,
  async run(context, given) {
    const [id = ''] = given.values;
    const client = await createCommandClient(context, given);
    const print = (call: Call) => {
      for (const line of given.flags.has('json') ? [jsonLine(call)] : linesOf(call)) context.say(line);
    };
    const { data } = await client.call('listPluginLogs', { path: { id }, query: { per_page: 100 } });
    for (const call of data.toReversed()) print(call);
    if (given.flags.has('follow')) await followCalls(client, id, print, PAUSE_MS);
    return 0;
  },
};

/**
 * Passes on each call that ends from now on.
 * @throws the error of the last try, when several tries in a row fail
 */
export async function followCalls(client: ApiClient, id: string, print: (call: Call) => void, pauseMs: number) {
  let lastId = '';
  for (let tries = 0; ; tries += 1) {
    try {
      const { signal } = new AbortController();
      for await (const event of client.follow({ query: { plugin_id: id }, lastId }, signal)) {
        lastId = event.id;
        tries = 0;
        if (event.event === 'plugin_call') print(JSON.parse(event.data) as Call);
      }
    } catch (error) {
      const isRefusal = error instanceof ApiError && !error.retryable;
      if (isRefusal || tries >= TRIES) throw error;
    }
    await delay(pauseMs);
  }
}

function linesOf({ at, outcome, duration_ms: duration, request_id: id, logs }: Call): string[] {
  const head = `${at} ${outcome} after ${duration} ms (${escapeForTerminal(id)})`;
  return [head, ...logs.flatMap(({ level, message }) => message.split('\n').map(lineOf(level)))];
}

/** Formats the lines of a message. Only the first line shows the level. */
function lineOf(level: string): (text: string, at: number) => string {
  return (text, at) => (at === 0 ? `  ${level}: ${escapeForTerminal(text)}` : `    ${escapeForTerminal(text)}`);
}
