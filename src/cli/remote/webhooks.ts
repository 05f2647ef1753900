import type { Operations, Schemas } from '../../client/api.ts';
import type { ApiClient } from '../../client/client.ts';
import { allOf } from '../../client/lists.ts';
import { type Command, type CommandArguments, type CommandContext, WrongUsage } from '../command.ts';
import { createCommandClient, formatItems, jsonLine, REMOTE_HELP, REMOTE_OPTIONS } from './client.ts';

type State = NonNullable<NonNullable<Operations['listDeliveries']['input']['query']>['state']>;

const MAX_DELIVERIES = 50;

/** Lists webhooks, shows the latest deliveries of one, or delivers an event again. */
export const webhooksCommand: Command = {
  usage: 'webhooks | webhooks <id> [--state <state>] | webhooks redeliver <id> <delivery> [--json]',
  summary: 'Show the webhooks of a server, or the deliveries of one; or deliver an event again',
  more: [
    REMOTE_HELP,
    `Of one webhook the latest ${MAX_DELIVERIES} events; --state is waiting, delivered, dead or dropped.`,
  ],
  flags: ['json'],
  options: [...REMOTE_OPTIONS, 'state'],
  arguments: { min: 0, max: 3 },
  async run(context, given) {
    const [first, id, deliveryId] = given.values;
    const isAgain = first === 'redeliver' && deliveryId !== undefined;
    const state = given.options.get('state') as State | undefined;
    if ((!isAgain && id !== undefined) || (state !== undefined && (first === undefined || isAgain))) {
      throw new WrongUsage(`It is: ${webhooksCommand.usage}`);
    }
    const client = await createCommandClient(context, given);
    if (isAgain) return await redeliver(client, context, given, { id: id ?? '', deliveryId });
    if (first === undefined) return await list(client, context, given);
    const query = { per_page: MAX_DELIVERIES, ...(state !== undefined && { state }) };
    const { data } = await client.call('listDeliveries', { path: { id: first }, query });
    const heads = ['ID', 'STATE', 'EVENT', 'MADE', 'TRIES', 'OUTCOME', 'TRANSACTION'];
    return print(context, given, data, heads, rowOf);
  },
};

async function list(client: ApiClient, context: CommandContext, given: CommandArguments) {
  const all = await allOf((query) => client.call('listNotifications', { query }));
  return print(context, given, all, ['ID', 'SIGNED', 'ADDRESS'], ({ id, has_signing_key: isSigned, url }) => [
    ...[id, isSigned ? 'yes' : 'no', url],
  ]);
}

async function redeliver(
  client: ApiClient,
  { say }: CommandContext,
  { flags }: CommandArguments,
  path: { id: string; deliveryId: string },
) {
  const { data } = await client.call('redeliver', { path });
  say(flags.has('json') ? jsonLine(data) : `${data.id} is ${data.state}, to be delivered again`);
  return 0;
}

function rowOf(one: Schemas['Delivery']): string[] {
  const { id, state, event, created_at: at, tries, outcome, transaction_id: transactionId } = one;
  return [id, state, event, at, String(tries), outcome ?? '', transactionId ?? ''];
}

function print<Item>(
  { say }: CommandContext,
  { flags }: CommandArguments,
  items: readonly Item[],
  heads: readonly string[],
  row: (item: Item) => string[],
): number {
  for (const line of formatItems(items, { heads, row, isJson: flags.has('json') })) say(line);
  return 0;
}
