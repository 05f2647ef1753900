import { setTimeout as delay } from 'node:timers/promises';
import type { Operations, Schemas } from '../../client/api.ts';
import { type ApiClient, ApiError } from '../../client/client.ts';
import { eventName, priceOf } from '../../client/format.ts';
import { findTransactions } from '../../client/lists.ts';
import { type Command, type CommandArguments, type CommandContext, WrongUsage } from '../command.ts';
import {
  createCommandClient,
  escapeForTerminal,
  formatItems,
  jsonLine,
  REMOTE_HELP,
  REMOTE_OPTIONS,
} from './client.ts';

type Action = (client: ApiClient, context: CommandContext, given: CommandArguments) => Promise<number>;

type Transaction = Operations['getTransaction']['answer']['data'];

const ACTIONS: Readonly<Record<string, Action>> = { list, show, cancel };

const PAUSE_MS = 1_000;

/** Lists a relayer's transactions, shows one with its timeline, or cancels one. */
export const txCommand: Command = {
  usage:
    'tx list <relayer> [--status <status>] [--page <page>] | tx show [<relayer>] <id> [--wait] | tx cancel [<relayer>] <id> [--json]',
  summary: 'Show the transactions of a relayer, or one with its timeline; or cancel one',
  more: [
    REMOTE_HELP,
    'A page has 50, the latest first. The id may also be a hash or a counter. Without a relayer all that the key sees are looked through.',
    '--wait goes on until the transaction has ended, and prints each change; the exit code is then 0 when it was confirmed, else 1.',
  ],
  flags: ['json', 'wait'],
  options: [...REMOTE_OPTIONS, 'status', 'page'],
  arguments: { min: 2, max: 3 },
  async run(context, given) {
    const [name = '', , id] = given.values;
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    const hasFilter = given.options.has('status') || given.options.has('page');
    if (action === undefined || (name === 'list' ? id !== undefined : hasFilter))
      throw new WrongUsage(`It is: ${txCommand.usage}`);
    return await action(await createCommandClient(context, given), context, given);
  },
};

async function list(
  client: ApiClient,
  { say }: CommandContext,
  { values: [, relayer = ''], flags, options }: CommandArguments,
) {
  const filter = Object.fromEntries([...options].filter(([name]) => name === 'status' || name === 'page'));
  const { data } = await client.call('listTransactions', { path: { id: relayer }, query: { per_page: 50, ...filter } });
  const row = (one: Transaction) => {
    const { hash, signature, created_at: at } = one as { hash?: string; signature?: unknown; created_at?: string };
    const chain = hash ?? (typeof signature === 'string' ? signature : '');
    return [one.id, one.status, at ?? '', chain, one.status_reason ?? ''];
  };
  const heads = ['ID', 'STATUS', 'ACCEPTED', 'HASH', 'WHY'];
  for (const line of formatItems(data, { heads, row, isJson: flags.has('json') })) say(line);
  return 0;
}

async function show(client: ApiClient, { say, complain }: CommandContext, given: CommandArguments) {
  const { flags } = given;
  const path = await pathOf(client, given);
  // Progress goes to standard error, because the answer may be read by a program.
  if (flags.has('wait')) await waitForTransactionEnd(client, path, complain, PAUSE_MS);
  const { data: transaction } = await client.call('getTransaction', { path });
  const { data: timeline } = await client.call('getTransactionTimeline', { path });
  const { status, status_reason: reason } = transaction;
  if (flags.has('json')) {
    say(jsonLine({ transaction, timeline }));
  } else {
    say(`${transaction.id} is ${status}${reason ? `: ${escapeForTerminal(reason)}` : ''}\n`);
    for (const line of timelineText(timeline)) say(line);
  }
  return flags.has('wait') && status !== 'confirmed' ? 1 : 0;
}

async function cancel(client: ApiClient, { say }: CommandContext, given: CommandArguments) {
  const { data } = await client.call('cancelTransaction', { path: await pathOf(client, given) });
  say(given.flags.has('json') ? jsonLine(data) : `${data.id} is to be canceled; it is ${data.status} now`);
  return 0;
}

/**
 * Finds the transaction that the arguments name.
 * @throws ApiError of status 404 when there is none, Error when there are several
 */
async function pathOf(client: ApiClient, { values: [, first = '', second] }: CommandArguments) {
  const text = second ?? first;
  const found = await findTransactions(client, text, second === undefined ? undefined : [first]);
  const [one] = found;
  if (one === undefined)
    throw new ApiError(404, { error: `Transaction ${text} not found`, code: 'TRANSACTION_NOT_FOUND' });
  if (found.length > 1) {
    throw new Error(
      `${text} is one of several relayers; name one of ${found.map(({ relayerId }) => relayerId).join(', ')}`,
    );
  }
  return { id: one.relayerId, transactionId: one.transaction.id };
}

type Event = Schemas['TimelineEvent'];

const WIDTH = 40;

/** Formats a timeline: for each event, its time after the first event as a number and a bar, and its text. */
export function timelineText({ events }: Pick<Schemas['Timeline'], 'events'>): string[] {
  const times = events.map(({ at }) => Date.parse(at));
  const [begin = 0] = times;
  const length = Math.max((times.at(-1) ?? begin) - begin, 1);
  return events.map((event, index) => {
    const after = (times[index] ?? begin) - begin;
    const place = Math.round((after / length) * (WIDTH - 1));
    const bar = `${'─'.repeat(place)}●${' '.repeat(WIDTH - 1 - place)}`;
    return `${afterText(after).padStart(9)}  ${bar}  ${escapeForTerminal(textOf(event))}`.trimEnd();
  });
}

function afterText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${milliseconds} ms`;
  return milliseconds < 120_000 ? `${(milliseconds / 1_000).toFixed(1)} s` : `${Math.round(milliseconds / 60_000)} min`;
}

function textOf(event: Event): string {
  switch (event.event) {
    case 'signed':
      return `signed, version ${event.version} (${event.purpose}) ${event.hash} ${priceOf(event.content)}`;
    case 'submitted':
      return `submitted, version ${event.version}${event.endpoint === undefined ? '' : ` to ${event.endpoint}`}`;
    case 'decided':
      return `${eventName(event)}: ${event.text}`;
    case 'ended':
      return `${event.status}${event.text === undefined ? '' : `: ${event.text}`}`;
    case 'cancel_refused':
    case 'replace_refused':
      return `${event.event.replace('_', ' ')}: ${event.text}`;
    default:
      return event.event.replace('_', ' ');
  }
}

const FINAL = new Set(['confirmed', 'failed', 'canceled', 'expired']);

/** How often in a row a request without an answer is repeated. */
const TRIES = 10;

/**
 * Resolves when a transaction has ended. Reports each status until then.
 * @throws ApiError, or the error of the last try, when several tries in a row fail
 */
export async function waitForTransactionEnd(
  client: ApiClient,
  path: { id: string; transactionId: string },
  report: (line: string) => void,
  pauseMs: number,
): Promise<void> {
  let reported = '';
  for (let tries = 0; ; tries += 1) {
    try {
      const { data } = await client.call('getTransaction', { path });
      tries = 0;
      if (data.status !== reported) report(`${data.id} is ${data.status}`);
      reported = data.status;
      if (FINAL.has(reported)) return;
    } catch (error) {
      if ((error instanceof ApiError && !error.retryable) || tries >= TRIES) throw error;
    }
    await delay(pauseMs);
  }
}
