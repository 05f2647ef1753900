import t, { type Test } from 'tap';
import type { Unreached } from '../../../src/engine/reach.ts';
import { healthChecks } from '../../../src/health-checks.ts';
import { FakePluginHost } from '../../support/fake-plugin-host.ts';
import { relayerOf, storeFor } from '../../support/store.ts';

async function stage(t: Test, unreached: Unreached[]) {
  const store = await storeFor(t);
  await store.write(async (writer) => {
    for (const id of ['r1', 'r2']) await writer.putRelayer(relayerOf({ id }));
  });
  return healthChecks({ store, engine: { unreached: () => unreached }, pluginHost: new FakePluginHost() });
}

const lost = (relayerId: string, isElsewhere: boolean): Unreached => ({
  ...{ relayerId, network: 'local', cause: 'connection refused', isElsewhere },
});

t.test('an instance that reaches nothing is not ready while another may serve', async (t) => {
  const { networks, store, plugins } = await stage(t, []);
  t.match(await networks?.(), { status: 'healthy' });
  t.match(await store?.(), { status: 'healthy' });
  t.match(await plugins?.(), { status: 'healthy', threads: Number });

  const half = await stage(t, [lost('r1', true)]);
  t.match(await half['networks']?.(), {
    status: 'degraded',
    error: undefined,
    unreached: [{ relayer_id: 'r1', network: 'local', cause: 'connection refused', served_by_others: true }],
  });
  const all = await stage(t, [lost('r1', false), lost('r2', true)]);
  const error = 'This instance reaches no network: connection refused';
  t.match(await all['networks']?.(), { status: 'unhealthy', error });
  const alone = await stage(t, [lost('r1', false), lost('r2', false)]);
  t.match(await alone['networks']?.(), { status: 'degraded', error });
  const gone = await stage(t, [lost('r3', true)]);
  t.match(await gone['networks']?.(), { status: 'healthy' }, 'of a relayer that is no more');
});
