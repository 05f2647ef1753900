import { join } from 'node:path';
import t, { type Test } from 'tap';
import { meteredStore, sampleAtScrape } from '../../../../src/app/metrics.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import { createLog } from '../../../../src/observability/log.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import type { PluginStatus } from '../../../../src/plugin-host/plugin-host.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/sqlite.ts';
import { FakePluginHost } from '../../../support/fake-plugin-host.ts';
import { HeldWal } from '../../../support/held-wal.ts';
import { relayerOf, storeFor, transactionOf } from '../../../support/store.ts';

t.test('scrape samples', async (t) => {
  /** The metrics of an instance with its own store. The test writes to the store as another instance would. */
  async function stage(t: Test) {
    const store = await storeFor(t);
    const metrics = createMetrics();
    const plugins: PluginStatus[] = [];
    const state = { isAway: false, plugins };
    const pluginHost = new FakePluginHost();
    pluginHost.status = () => ({
      ...FakePluginHost.prototype.status.call(pluginHost),
      uses: [{ pluginId: 'p', isolates: 2, residentBytes: 100 }],
      plugins: state.plugins,
    });
    sampleAtScrape(metrics, {
      store: {
        read: store.read,
        now: async () => {
          if (state.isAway) throw new Error('nothing is written any more');
          return store.now();
        },
      },
      chains: new Map([['evm' as const, { unit: 'wei' }]]),
      engine: { parked: () => [{ relayerId: 'r', networkType: 'evm', cause: 'price' }] },
      connections: {
        endpoints: () => [{ network: 'n', endpoint: 'https://a.test', state: 'ready', unanswered: [] }],
      },
      pluginHost,
    });
    return { store, metrics, state };
  }

  t.test('a relayer that another instance found well, or took away, is told of as it is', async (t) => {
    const { store, metrics } = await stage(t);
    const disabledReason = { type: 'BalanceCheckFailed', details: 'Insufficient balance' } as const;
    const unwell = relayerOf({ id: 'r1', disabledReason });
    await store.write(async (writer) => {
      await writer.putRelayer(unwell);
      await writer.putRelayer({ ...unwell, id: 'r2' });
      for (const relayerId of ['r1', 'r2', 'gone']) {
        await writer.putRelayerBalance({ relayerId, balance: 10n ** 18n, isLow: false });
      }
    });
    // A value that this instance measured itself must not stay after another instance has written a newer one.
    metrics.engine.relayerChecked('r1', false);
    metrics.engine.relayerChecked('r2', false);
    t.match(await metrics.text(), 'isolayer_relayer_healthy{relayer_id="r1"} 0');
    await store.write(async (writer) => {
      await writer.putRelayer({ ...unwell, disabledReason: null });
      await writer.deleteRelayer('r2');
    });
    const text = await metrics.text();
    t.match(text, 'isolayer_relayer_healthy{relayer_id="r1"} 1');
    t.match(text, 'isolayer_relayer_balance{relayer_id="r1",network_type="evm",unit="wei"} 1000000000000000000');
    t.equal(text.split('isolayer_relayer_balance{').length, 2, 'of those that are there');
    t.notMatch(text, 'isolayer_relayer_healthy{relayer_id="r2"}');
  });

  t.test('no gauge by relayer stays when its transactions have ended and it is gone', async (t) => {
    const { store, metrics } = await stage(t);
    const transaction = transactionOf({ relayerId: 'gone' });
    await store.write(async (writer) => {
      await writer.putRelayer(relayerOf({ id: 'gone' }));
      await writer.insertTransaction(transaction);
    });
    const gauges = /^(?!isolayer_transaction\w*_total)\w+\{.*relayer_id="gone"/m;
    t.match(await metrics.text(), gauges);
    await store.write(async (writer) => {
      await writer.updateTransaction(transaction.id, 'pending', { status: 'failed', nextActionAt: null });
      await writer.deleteRelayer('gone');
    });
    t.notMatch(await metrics.text(), gauges);
  });

  t.test('a store that takes no writes is told of, and is well again when it says so', async (t) => {
    const { metrics, state } = await stage(t);
    t.match(await metrics.text(), /^isolayer_store_healthy 1$/m);
    state.isAway = true;
    t.match(await metrics.text(), /^isolayer_store_healthy 0$/m);
    state.isAway = false;
    t.match(await metrics.text(), /^isolayer_store_healthy 1$/m);
  });

  t.test('plugins, endpoints and what waits are told of as their parts say', async (t) => {
    const { metrics, state } = await stage(t);
    const plugin: PluginStatus = { id: 'p', state: 'backing-off', reason: 'died', version: null, refused: true };
    state.plugins = [plugin, { ...plugin, id: 'q', state: 'serving', refused: false }];
    const text = await metrics.text();
    t.match(text, 'isolayer_plugin_refused{plugin_id="p"} 1');
    t.match(text, 'isolayer_plugin_refused{plugin_id="q"} 0');
    t.match(text, 'isolayer_plugin_isolates{plugin_id="p"} 2');
    t.match(text, 'isolayer_transactions_parked{relayer_id="r",network_type="evm",reason="price"} 1');
    t.match(text, /^isolayer_intents_waiting 0$/m);
    state.plugins = [];
    t.notMatch(await metrics.text(), 'isolayer_plugin_refused{');
  });
});

t.test('metered store', async (t) => {
  /** A store whose disk the test controls, and the reports about its writes. By the clock each write takes a second. */
  async function open(folder: string) {
    const told: [outcome: string, seconds: number, failure: string | undefined][] = [];
    let wal: HeldWal | undefined;
    const bare = await openSqliteStore({
      path: join(folder, 'isolayer.db'),
      log: createLog('silent'),
      clock: systemClock,
      openWal: (path) => {
        wal = new HeldWal(path);
        return wal;
      },
    });
    if (wal === undefined) throw new Error('the log was not opened');
    let seconds = 0;
    const elapsed = () => 1000 * seconds++;
    const store = meteredStore(
      bare,
      { wrote: (outcome, seconds, failure) => void told.push([outcome, seconds, failure]) },
      { elapsed },
    );
    return { bare, store, wal, told };
  }

  t.test('a write is told of when it is on disk, and one that was undone as such', async (t) => {
    const { store, wal, told } = await open(t.testdir());
    t.teardown(() => store.close());
    wal.hold();
    const writing = store.write((writer) => writer.putRelayer(relayerOf()));
    await wal.asked();
    t.strictSame(told, [], 'not before');
    t.equal(store.oldestWriteMs(), 1000, 'one that waits is seen');
    wal.release();
    await writing;
    t.strictSame(told, [['kept', 2, undefined]]);
    t.equal(store.oldestWriteMs(), 0);
    t.equal((await store.read.relayer('relayer-1'))?.id, 'relayer-1');

    const refused = new Error('no');
    await t.rejects(
      store.write(async (writer) => {
        await writer.deleteRelayer('relayer-1');
        throw refused;
      }),
      refused,
    );
    t.strictSame(told.slice(1), [['undone', 1, undefined]]);
    t.equal((await store.read.relayer('relayer-1'))?.id, 'relayer-1');
  });

  t.test('writes under a lease are told of too', async (t) => {
    const { store, told } = await open(t.testdir());
    t.teardown(() => store.close());
    const answer = await store.leases.acquire('here');
    if (answer.kind !== 'taken') throw new Error('the lease is not free');
    const { lease } = answer;
    t.equal(await store.writeUnder(lease, async () => 5), 5);
    await store.leases.release([lease]);
    await t.rejects(store.writeUnder(lease, async () => 6));
    t.strictSame(told, [
      ['kept', 1, undefined],
      ['undone', 1, undefined],
    ]);
  });

  t.test('what the store could not write has failed', async (t) => {
    const { store, wal, told } = await open(t.testdir());
    t.teardown(() => store.close());
    wal.hold();
    const writing = store.write((writer) => writer.putRelayer(relayerOf()));
    await wal.asked();
    wal.fail(new Error('EIO'));
    await t.rejects(writing, { code: 'UNAVAILABLE' });
    await t.rejects(
      store.write((writer) => writer.deleteRelayer('relayer-1')),
      { code: 'UNAVAILABLE' },
      'and from then on',
    );
    t.match(told, [
      ['failed', 1, /EIO/],
      ['failed', 1, /./],
    ]);
  });

  t.test('all else is the store’s own', async (t) => {
    const { bare, store } = await open(t.testdir());
    for (const part of ['read', 'leases', 'buckets', 'instances', 'hints'] as const)
      t.equal(store[part], bare[part], part);
    t.ok(Math.abs((await store.now()) - Date.now()) < 60_000);
    await store.close();
    await t.rejects(
      bare.write(async () => 1),
      { code: 'UNAVAILABLE' },
      'closed with it',
    );
  });
});
