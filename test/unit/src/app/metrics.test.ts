import { join } from 'node:path';
import t, { type Test } from 'tap';
import { countEndpointNews, meteredStore, rpcCallCounter, sampleAtScrape } from '../../../../src/app/metrics.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import type { EndpointStatus } from '../../../../src/domain/endpoint-news.ts';
import type { ParkedTransaction } from '../../../../src/engine/lane/broadcast-history.ts';
import type { PluginHost, PluginHostStatus, PluginStatus } from '../../../../src/features/plugins/host/plugin-host.ts';
import { pluginEntrySchema } from '../../../../src/features/plugins/records/plugin.ts';
import { createLog } from '../../../../src/observability/log.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/sqlite.ts';
import { textOf } from '../../../support/exposition.ts';
import { FakePluginHost } from '../../../support/fake-plugin-host.ts';
import { HeldWal } from '../../../support/held-wal.ts';
import { RecordedMetrics } from '../../../support/recorded-metrics.ts';
import { relayerOf, storeFor, transactionOf } from '../../../support/store.ts';
import { triggerStateOf } from '../../../support/store-contract/triggers.ts';

/** What the parts say at a scrape. */
interface State extends Pick<PluginHostStatus, 'uses' | 'plugins'> {
  isAway: boolean;
  triggers: object[];
  now?: number;
  writeFailure?: string;
  parked: ParkedTransaction[];
  endpoints: (EndpointStatus & { network: string })[];
  usage: ReturnType<PluginHost['usage']>;
}

t.test('scrape samples', async (t) => {
  /** The metrics of an instance with its own store. The test writes to the store as another instance would. */
  async function stage(t: Test) {
    const store = await storeFor(t);
    const metrics = createMetrics();
    const state: State = {
      isAway: false,
      triggers: [{ name: 'a', every: '1h' }],
      plugins: [],
      uses: [{ pluginId: 'p', isolates: 2, residentBytes: 100 }],
      parked: [{ relayerId: 'r', networkType: 'evm', cause: 'price' }],
      endpoints: [{ network: 'n', endpoint: 'https://a.test', state: 'ready', unanswered: [] }],
      usage: { totals: [], heapPeaks: new Map() },
    };
    const pluginHost = new FakePluginHost();
    pluginHost.status = () => ({
      ...FakePluginHost.prototype.status.call(pluginHost),
      uses: state.uses,
      plugins: state.plugins,
    });
    pluginHost.usage = () => state.usage;
    sampleAtScrape(metrics, {
      store: {
        read: store.read,
        now: async () => {
          if (state.isAway) throw new Error('nothing is written any more');
          return state.now ?? store.now();
        },
        writeFailure: () => state.writeFailure,
      },
      chains: new Map([['evm' as const, { unit: 'wei' }]]),
      engine: { parked: () => state.parked },
      connections: { endpoints: () => state.endpoints },
      pluginHost,
      declared: () => [pluginEntrySchema.parse({ id: 'p', path: 'p.ts', triggers: state.triggers })],
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
    t.match(await textOf(metrics), 'isolayer_relayer_healthy{relayer_id="r1"} 0');
    await store.write(async (writer) => {
      await writer.putRelayer({ ...unwell, disabledReason: null });
      await writer.deleteRelayer('r2');
    });
    const text = await textOf(metrics);
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
    t.match(await textOf(metrics), gauges);
    await store.write(async (writer) => {
      await writer.updateTransaction(transaction.id, 'pending', { status: 'failed', nextActionAt: null });
      await writer.deleteRelayer('gone');
    });
    t.notMatch(await textOf(metrics), gauges);
  });

  t.test('a trigger that is paused is told of, unless it is declared no more', async (t) => {
    const { store, metrics, state } = await stage(t);
    for (const name of ['a', 'gone']) {
      await store.write((writer) => writer.putTrigger(triggerStateOf({ pluginId: 'p', name, paused: 'throws' })));
    }
    const text = await textOf(metrics);
    t.match(text, 'isolayer_trigger_paused{plugin_id="p",trigger="a",by="throws"} 1');
    t.match(text, 'isolayer_trigger_paused{plugin_id="p",trigger="a",by="person"} 0');
    t.notMatch(text, 'trigger="gone"');
    state.triggers = [];
    t.notMatch(await textOf(metrics), 'isolayer_trigger_paused{', 'nor once the last one is gone');
  });

  t.test('a store that takes no writes is told of, and is well again when it says so', async (t) => {
    const { metrics, state } = await stage(t);
    t.match(await textOf(metrics), /^isolayer_store_healthy 1$/m);
    state.isAway = true;
    t.match(await textOf(metrics), /^isolayer_store_healthy 0$/m);
    state.isAway = false;
    t.match(await textOf(metrics), /^isolayer_store_healthy 1$/m);
    state.writeFailure = 'the disk is full';
    t.match(await textOf(metrics), /^isolayer_store_healthy 0$/m);
  });

  t.test('open transactions, and the age of the oldest of each relayer', async (t) => {
    const { store, metrics, state } = await stage(t);
    await store.write(async (writer) => {
      await writer.putRelayer(relayerOf({ id: 'r1' }));
      for (const [id, createdAt] of Object.entries({ one: 7_000, two: 2_000, three: 9_000 })) {
        await writer.insertTransaction(transactionOf({ id, relayerId: 'r1', createdAt }));
      }
      await writer.updateTransaction('three', 'pending', { status: 'sent' });
    });
    state.now = 62_000;
    const labels = 'relayer_id="r1",network_type="evm"';
    const text = await textOf(metrics);
    t.match(text, `isolayer_transactions_open{${labels},status="pending"} 2\n`);
    t.match(text, `isolayer_transactions_open{${labels},status="sent"} 1\n`);
    t.match(text, `isolayer_transactions_oldest_open_age_seconds{${labels}} 60\n`);
    state.now = 1_000;
    t.match(await textOf(metrics), `oldest_open_age_seconds{${labels}} 0\n`, 'clocks may differ');
  });

  t.test('plugins, endpoints and what waits are told of as their parts say', async (t) => {
    const { metrics, state } = await stage(t);
    const plugin: PluginStatus = { id: 'p', state: 'backing-off', reason: 'died', version: null, refused: true };
    state.plugins = [plugin, { ...plugin, id: 'q', state: 'serving', refused: false }];
    const text = await textOf(metrics);
    t.match(text, 'isolayer_plugin_refused{plugin_id="p"} 1');
    t.match(text, 'isolayer_plugin_refused{plugin_id="q"} 0');
    t.match(text, 'isolayer_plugin_isolates{plugin_id="p"} 2');
    t.match(text, 'isolayer_transactions_parked{relayer_id="r",network_type="evm",reason="price"} 1');
    t.match(text, /^isolayer_intents_waiting 0$/m);
    state.plugins = [];
    t.notMatch(await textOf(metrics), 'isolayer_plugin_refused{');
  });

  t.test('what processes hold is added up by plugin, and usage is taken over as it stands', async (t) => {
    const { metrics, state } = await stage(t);
    state.uses = [
      { pluginId: 'a', isolates: 2, residentBytes: 100 },
      { pluginId: 'a', isolates: 1, residentBytes: 50 },
      { pluginId: '', isolates: 0, residentBytes: 30 },
    ];
    const total = {
      pluginId: 'a',
      outcome: 'threw',
      calls: 1,
      capabilityCalls: 0,
      cpuMs: 1500,
      bytesIn: 20,
      bytesOut: 3,
    };
    state.usage = { totals: [total], heapPeaks: new Map([['a', 100]]) };
    const text = await textOf(metrics);
    t.match(text, 'isolayer_plugin_isolates{plugin_id="a"} 3');
    t.match(text, 'isolayer_plugin_resident_memory_bytes{plugin_id="a"} 150');
    t.match(text, 'isolayer_plugin_resident_memory_bytes{plugin_id=""} 30');
    state.uses = [];
    state.usage = { totals: [{ ...total, cpuMs: 2500 }], heapPeaks: new Map([['b', 7]]) };
    const later = await textOf(metrics);
    t.notMatch(later, 'isolayer_plugin_isolates{');
    t.match(later, 'isolayer_plugin_cpu_seconds_total{plugin_id="a",outcome="threw"} 2.5');
    t.match(later, 'isolayer_plugin_received_bytes_total{plugin_id="a",outcome="threw"} 20');
    t.match(later, 'isolayer_plugin_sent_bytes_total{plugin_id="a",outcome="threw"} 3');
    t.match(later, 'isolayer_plugin_heap_peak_bytes{plugin_id="b"} 7');
    t.notMatch(later, 'isolayer_plugin_heap_peak_bytes{plugin_id="a"}');
  });

  t.test('what waits, and endpoints of one name, are added up; each state has a figure', async (t) => {
    const { metrics, state } = await stage(t);
    const [waiting] = state.parked;
    const [endpoint] = state.endpoints;
    if (waiting === undefined || endpoint === undefined) throw new Error('nothing is sampled');
    state.parked = [waiting, waiting, { ...waiting, cause: 'balance' }];
    state.endpoints = [endpoint, { ...endpoint, state: 'paused' }];
    const text = await textOf(metrics);
    t.match(text, 'isolayer_transactions_parked{relayer_id="r",network_type="evm",reason="price"} 2');
    t.match(text, 'isolayer_transactions_parked{relayer_id="r",network_type="evm",reason="balance"} 1');
    for (const [name, count] of Object.entries({ ready: 1, paused: 1, limited: 0, unfit: 0 })) {
      t.match(text, `isolayer_rpc_endpoints{network="n",endpoint="https://a.test",state="${name}"} ${count}`);
    }
    state.parked = [];
    state.endpoints = [];
    const later = await textOf(metrics);
    t.notMatch(later, 'isolayer_transactions_parked{');
    t.notMatch(later, 'isolayer_rpc_endpoints{');
  });

  t.test('what the alerts look for an increase of is there before it first happens', async (t) => {
    const { store, metrics, state } = await stage(t);
    await store.write((writer) => writer.putRelayer(relayerOf({ id: 'r1' })));
    state.plugins = [{ id: 'p', state: 'serving', reason: null, version: null, refused: false }];
    const labels = 'relayer_id="r1",network_type="evm"';
    const text = await textOf(metrics);
    t.match(text, 'isolayer_lane_faults_total{network_type="evm"} 0');
    t.match(text, `isolayer_transaction_decisions_total{${labels},kind="gap-filled"} 0`);
    t.match(text, `isolayer_transaction_transitions_total{${labels},from="sent",to="submitted"} 0`);
    t.match(
      text,
      `isolayer_transactions_failed_total{${labels},failure_reason="expired",previous_status="submitted"} 0`,
    );
    metrics.count('lane_faults', { network_type: 'evm' });
    t.match(await textOf(metrics), 'isolayer_lane_faults_total{network_type="evm"} 1', 'and is not begun anew');
    t.match(await textOf(metrics), 'isolayer_plugin_process_ends_total{plugin_id="p",cause="memory"} 0');
    t.match(await textOf(metrics), 'isolayer_plugin_call_outcomes_total{plugin_id="p",outcome="SANDBOX_LOST"} 0');
  });
});

t.test('calls to networks', async (t) => {
  t.test('callers of the pass-through cannot make up labels without end', (t) => {
    const metrics = new RecordedMetrics();
    const count = rpcCallCounter(metrics);
    const call = { endpoint: 'https://a.test', outcome: 'ok', ms: 20 } as const;
    count(undefined, { ...call, method: 'eth_call', outcome: 'transport' });
    for (let n = 0; n < 200; n += 1) count(undefined, { ...call, method: `made_up_${n}` });
    count(undefined, { ...call, method: 'a"b\n' });
    const names = new Set(metrics.of('rpc_call_duration', 'operation_name'));
    t.ok(names.size <= 65, `${names.size} names`);
    t.ok(names.has('eth_call') && names.has('other'));
    t.strictSame(metrics.of('rpc_call_failures'), ['https://a.test eth_call transport']);
    t.equal(metrics.values('rpc_call_duration')[0], 0.02);
    t.end();
  });

  t.test('pauses of endpoints are counted, their ends are not', (t) => {
    const metrics = new RecordedMetrics();
    countEndpointNews(metrics, 'sepolia', { kind: 'paused', endpoint: 'https://a.test' });
    countEndpointNews(metrics, 'sepolia', { kind: 'back', endpoint: 'https://a.test' });
    t.strictSame(metrics.of('rpc_endpoint_pauses'), ['sepolia https://a.test paused']);
    t.end();
  });
});

t.test('metered store', async (t) => {
  /** A store whose disk the test controls, and the reports about its writes. By the clock each write takes a second. */
  async function open(folder: string) {
    const metrics = new RecordedMetrics();
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
    const store = meteredStore(bare, metrics, { elapsed });
    const told = () => {
      const outcomes = metrics.of('store_write_duration');
      return metrics.values('store_write_duration').map((took, n) => [outcomes[n], took]);
    };
    return { bare, store, wal, told };
  }

  t.test('a write is told of when it is on disk, and one that was undone as such', async (t) => {
    const { store, wal, told } = await open(t.testdir());
    t.teardown(() => store.close());
    wal.hold();
    const writing = store.write((writer) => writer.putRelayer(relayerOf()));
    await wal.asked();
    t.strictSame(told(), [], 'not before');
    t.equal(store.oldestWriteMs(), 1000, 'one that waits is seen');
    wal.release();
    await writing;
    t.strictSame(told(), [['kept', 2]]);
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
    t.strictSame(told().slice(1), [['undone', 1]]);
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
    t.strictSame(told(), [
      ['kept', 1],
      ['undone', 1],
    ]);
  });

  t.test('what the store could not write has failed', async (t) => {
    const { store, wal, told } = await open(t.testdir());
    t.teardown(() => store.close());
    wal.hold();
    const writing = store.write((writer) => writer.putRelayer(relayerOf()));
    await wal.asked();
    wal.fail(new Error('EIO'));
    t.equal(store.writeFailure(), undefined);
    await t.rejects(writing, { code: 'UNAVAILABLE' });
    t.match(store.writeFailure(), /EIO/);
    await t.rejects(
      store.write((writer) => writer.deleteRelayer('relayer-1')),
      { code: 'UNAVAILABLE' },
      'and from then on',
    );
    t.strictSame(told(), [
      ['failed', 1],
      ['failed', 1],
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
