import * as node from 'node:diagnostics_channel';
import t from 'tap';
import { diagnosticsChannel } from '../../../../../sandbox/guest/node/diagnostics-channel.ts';
import { sameAsNode } from '../../../../support/same-as-node.ts';

const STAGES = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;

t.test('channels carry messages as in Node', async (t) => {
  await sameAsNode(t, diagnosticsChannel as unknown as typeof node, node, {
    messages(module) {
      const seen: unknown[] = [];
      const listener = (message: unknown, name: string | symbol) => seen.push([message, name]);
      const channel = module.channel('own');
      seen.push(module.channel('own') === channel, channel.hasSubscribers, module.hasSubscribers('own'));
      module.subscribe('own', listener);
      channel.publish('message');
      seen.push(channel.hasSubscribers, module.hasSubscribers('own'));
      seen.push(module.unsubscribe('own', listener), module.unsubscribe('own', listener));
      channel.publish('unheard');
      return seen;
    },
    async tracing(module) {
      const seen: unknown[] = [];
      const channels = module.tracingChannel('traced');
      const handlers = Object.fromEntries(
        STAGES.map((stage) => [stage, (message: object) => seen.push([stage, { ...message }])]),
      ) as never;
      seen.push(channels.hasSubscribers);
      channels.subscribe(handlers);
      seen.push(channels.traceSync((value: number) => value + 1, {}, undefined, 1));
      try {
        channels.traceSync(() => {
          throw new Error('thrown');
        });
      } catch {
        seen.push('thrown');
      }
      channels.unsubscribe(handlers);
      return seen.map((one) => JSON.stringify(one));
    },
    'no name': (module) => module.channel(5 as never),
    'no subscriber': (module) => module.channel('own').subscribe(5 as never),
  });
  const channel = diagnosticsChannel.channel('stores');
  t.equal(
    channel.runStores({}, () => 7),
    7,
  );
  t.equal(channel.unbindStore(), false);
  channel.bindStore();
  const { tracePromise, traceCallback } = diagnosticsChannel.tracingChannel('promises');
  t.equal(await tracePromise(async () => 8), 8);
  t.equal(
    traceCallback(() => 9),
    9,
  );
});
