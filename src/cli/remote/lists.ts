import type { Operations } from '../../client/api.ts';
import type { ApiClient } from '../../client/client.ts';
import type { Command } from '../command.ts';
import { clientOf, REMOTE_HELP, REMOTE_OPTIONS } from './client.ts';
import { jsonLine, rowsOf } from './rows.ts';

interface List<Item> {
  name: string;
  summary: string;
  heads: readonly string[];
  read(client: ApiClient): Promise<{ data: Item[] }>;
  row(item: Item): string[];
}

/** A command that shows a list: in rows for people, each item a line of JSON for programs. */
function listCommand<Item>({ name, summary, heads, read, row }: List<Item>): Command {
  return {
    usage: `${name} [--json]`,
    summary,
    more: [REMOTE_HELP],
    flags: ['json'],
    options: REMOTE_OPTIONS,
    arguments: 0,
    async run(context, given) {
      const { data } = await read(await clientOf(context, given));
      const lines = given.flags.has('json') ? data.map(jsonLine) : rowsOf(heads, data.map(row));
      for (const line of lines) context.say(line);
      return 0;
    },
  };
}

const ALL = { query: { per_page: 500 } };

type Item<Id extends keyof Operations> = Operations[Id]['answer'] extends { data: (infer One)[] } ? One : never;

export const relayersCommand = listCommand<Item<'listRelayers'>>({
  name: 'relayers',
  summary: 'Show the relayers of a server, and how each stands',
  heads: ['ID', 'NETWORK', 'STATE', 'ADDRESS', 'CAUSE'],
  read: (client) => client.call('listRelayers', ALL),
  row: ({ id, network_type, network, address, paused, system_disabled, disabled_reason: reason }) => [
    id,
    `${network_type}:${network}`,
    system_disabled ? 'disabled' : paused ? 'paused' : 'active',
    address,
    reason === undefined ? '' : jsonLine(reason.details),
  ],
});

export const pluginsCommand = listCommand<Item<'listPlugins'>>({
  name: 'plugins',
  summary: 'Show the plugins of a server: state, and the calls of the last hour',
  heads: ['ID', 'STATE', 'CALLS', 'CPU MS', 'WHY'],
  read: (client) => client.call('listPlugins', ALL),
  row: ({ id, enabled, state, last_hour: { calls, cpu_ms }, error, back_off: backOff }) => [
    ...[id, enabled ? state : 'disabled', String(calls), String(Math.round(cpu_ms))],
    error?.message ?? backOff?.reason ?? '',
  ],
});

export const webhooksCommand = listCommand<Item<'listNotifications'>>({
  name: 'webhooks',
  summary: 'Show the webhooks of a server',
  heads: ['ID', 'SIGNED', 'ADDRESS'],
  read: (client) => client.call('listNotifications', ALL),
  row: ({ id, url, has_signing_key: isSigned }) => [id, isSigned ? 'yes' : 'no', url],
});

export const keysCommand = listCommand<Item<'listApiKeys'>>({
  name: 'keys',
  summary: 'Show the API keys of a server, and what each may do',
  heads: ['ID', 'NAME', 'ENDS', 'PERMISSIONS'],
  read: (client) => client.call('listApiKeys', ALL),
  row: ({ id, name, expires_at: ends, permissions }) => [id, name, ends ?? 'never', permissions.join(' ')],
});
