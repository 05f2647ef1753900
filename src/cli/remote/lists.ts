import type { Operations, Schemas } from '../../client/api.ts';
import { type ApiClient, ApiError } from '../../client/client.ts';
import { amountText } from '../../client/format.ts';
import { allOf, patiently } from '../../client/lists.ts';
import type { Command } from '../command.ts';
import { createCommandClient, formatItems, jsonLine, REMOTE_HELP, REMOTE_OPTIONS } from './client.ts';

interface List<Item> {
  name: string;
  summary: string;
  heads: readonly string[];
  /** The list's query parameters that are options, each with the placeholder for its value. */
  filters?: Readonly<Record<string, string>>;
  /** Further lines of its help. */
  more?: readonly string[];
  read(client: ApiClient, query: Readonly<Record<string, string>>): Promise<Item[]>;
  row(item: Item): string[];
}

/** Creates a command that shows a list: as a table for people, or each item as a line of JSON for programs. */
function listCommand<Item>({ name, summary, heads, filters = {}, more = [], read, row }: List<Item>): Command {
  const words = Object.entries(filters).map(([filter, value]) => `[--${filter} ${value}] `);
  return {
    usage: `${name} ${words.join('')}[--json]`,
    summary,
    more: [REMOTE_HELP, ...more],
    flags: ['json'],
    options: [...REMOTE_OPTIONS, ...Object.keys(filters)],
    arguments: 0,
    async run(context, given) {
      const query = Object.fromEntries([...given.options].filter(([option]) => Object.hasOwn(filters, option)));
      const items = await read(await createCommandClient(context, given), query);
      for (const line of formatItems(items, { heads, row, isJson: given.flags.has('json') })) context.say(line);
      return 0;
    },
  };
}

type Item<Id extends keyof Operations> = Operations[Id]['answer'] extends { data: (infer One)[] } ? One : never;

/** A relayer and its balance; null when no node returned it. */
type Relayer = Item<'listRelayers'> & Pick<Schemas['Balance'], 'balance'> & { unit?: string };

const AT_ONCE = 10;

export const relayersCommand = listCommand<Relayer>({
  name: 'relayers',
  summary: 'Show the relayers of a server, how each stands, and what it has',
  heads: ['ID', 'NETWORK', 'STATE', 'BALANCE', 'ADDRESS', 'CAUSE'],
  filters: { search: '<text>', state: '<states>' },
  more: [
    'The text is looked for in id, name, address and network. States are active, paused and disabled, with commas between them.',
  ],
  async read(client, filter) {
    const data = await allOf((page) => client.call('listRelayers', { query: { ...page, ...filter } }));
    const relayers: Relayer[] = [];
    for (let at = 0; at < data.length; at += AT_ONCE) {
      const some = data.slice(at, at + AT_ONCE);
      relayers.push(
        ...(await Promise.all(some.map(async (one) => ({ ...one, ...(await balanceOf(client, one.id)) })))),
      );
    }
    return relayers;
  },
  row: ({ id, network_type, network, address, paused, system_disabled, disabled_reason: reason, balance, unit }) => [
    id,
    `${network_type}:${network}`,
    system_disabled ? 'disabled' : paused ? 'paused' : 'active',
    balance === null ? '' : amountText(balance, unit ?? ''),
    address,
    reason === undefined ? '' : jsonLine(reason.details),
  ],
});

/** Reads a balance. If the node fails, the relayer is shown without it. */
async function balanceOf(client: ApiClient, id: string): Promise<Pick<Relayer, 'balance' | 'unit'>> {
  try {
    const { balance, unit } = (await patiently(() => client.call('getRelayerBalance', { path: { id } }))).data;
    return { balance, unit };
  } catch (error) {
    if (error instanceof ApiError) return { balance: null };
    throw error;
  }
}

export const pluginsCommand = listCommand<Item<'listPlugins'>>({
  name: 'plugins',
  summary: 'Show the plugins of a server: state, and the calls of the last hour',
  heads: ['ID', 'STATE', 'CALLS', 'CPU MS', 'WHY'],
  read: (client) => allOf((query) => client.call('listPlugins', { query })),
  row: ({ id, enabled, state, last_hour: { calls, cpu_ms }, error, back_off: backOff }) => [
    ...[id, enabled ? state : 'disabled', String(calls), String(Math.round(cpu_ms))],
    error?.message ?? backOff?.reason ?? '',
  ],
});

const KEYS: Omit<List<Schemas['ApiKey']>, 'read'> = {
  name: 'keys',
  summary: 'Show the API keys of a server, and what each may do',
  heads: ['ID', 'NAME', 'ENDS', 'PERMISSIONS'],
  row: ({ id, name, expires_at: ends, permissions }) => [id, name, ends ?? 'never', permissions.join(' ')],
};

export const keysCommand = listCommand({
  ...KEYS,
  read: (client) => allOf((query) => client.call('listApiKeys', { query })),
});

export const whoamiCommand = listCommand({
  ...KEYS,
  name: 'whoami',
  summary: 'Show the API key that you ask with, and what it may do',
  read: async (client) => [(await client.call('getCurrentApiKey', {})).data],
});
