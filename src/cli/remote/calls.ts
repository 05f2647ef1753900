import type { Operations, Schemas } from '../../client/api.ts';
import { type Command, WrongUsage } from '../command.ts';
import { createCommandClient, formatItems, jsonLine, REMOTE_HELP, REMOTE_OPTIONS } from './client.ts';

type State = NonNullable<NonNullable<Operations['listPluginCalls']['input']['query']>['state']>;

const MAX_CALLS = 50;

/** Lists the durable calls of a plugin, shows one with its answer, or changes one. */
export const callsCommand: Command = {
  usage: 'calls <plugin> [--state <state>] | calls <plugin> <call> [record | cancel | retry] [--json]',
  summary: 'Show the durable calls of a plugin of a server; or what one heard; or cancel one or run it again',
  more: [
    REMOTE_HELP,
    `Of a plugin the latest ${MAX_CALLS} calls. "record" prints the input of isolayer plugin replay.`,
    '--state is running, waiting, returned, threw, canceled or expired.',
  ],
  flags: ['json'],
  options: [...REMOTE_OPTIONS, 'state'],
  arguments: { min: 1, max: 3 },
  async run(context, given) {
    const [id = '', call, action] = given.values;
    const { say } = context;
    const state = given.options.get('state') as State | undefined;
    if (call !== undefined && state !== undefined) throw new WrongUsage(`It is: ${callsCommand.usage}`);
    const client = await createCommandClient(context, given);
    if (call === undefined) {
      const query = { per_page: MAX_CALLS, ...(state !== undefined && { state }) };
      const { data } = await client.call('listPluginCalls', { path: { id }, query });
      const heads = ['ID', 'STATE', 'MADE', 'TRIGGER', 'RUNS', 'WAITS FOR', 'ERROR'];
      for (const line of formatItems(data, { heads, row: rowOf, isJson: given.flags.has('json') })) say(line);
      return 0;
    }
    const path = { id, call };
    if (action === 'record') {
      say(jsonLine((await client.call('getPluginCallRecord', { path })).data));
      return 0;
    }
    const { data } = await (action === 'cancel'
      ? client.call('cancelPluginCall', { path })
      : action === 'retry'
        ? client.call('retryPluginCall', { path })
        : client.call('getPluginCall', { path }));
    say(action === undefined || given.flags.has('json') ? jsonLine(data) : `${data.id} is ${data.state}`);
    return 0;
  },
};

function rowOf({
  id,
  state,
  created_at: at,
  trigger,
  tries,
  waits_for: waits,
  error,
}: Schemas['PluginCall']): string[] {
  const waitsFor = waits.map(({ kind, name, transaction_id: transaction, until }) => {
    return kind === 'time' ? until : `${kind} ${name ?? transaction ?? ''}`;
  });
  return [id, state, at, trigger?.name ?? '', String(tries), waitsFor.join(', '), error?.message ?? ''];
}
