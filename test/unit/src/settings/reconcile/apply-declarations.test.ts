import t, { type Test } from 'tap';
import { rpcUrlsDigest } from '../../../../../src/features/networks/networks.ts';
import type { ConfiguredNetwork, StoredNetwork } from '../../../../../src/features/networks/record.ts';
import { pluginFieldDigest } from '../../../../../src/features/plugins/plugins.ts';
import { undeclaredPluginEntry } from '../../../../../src/features/plugins/records/plugin.ts';
import type { StoredPlugin } from '../../../../../src/features/plugins/records/plugin-settings.ts';
import { notReachedYet } from '../../../../../src/features/relayers/records/disabled-reason.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import {
  applyChangedNotifications,
  applyChangedRelayers,
  applyNetworks,
  applyNotifications,
  applyPlugins,
  applyRelayers,
  applySigners,
  type DeclaredNotification,
  type DeclaredRelayer,
} from '../../../../../src/settings/reconcile/apply-declarations.ts';
import type { Store } from '../../../../../src/store/store.ts';
import { putSigner } from '../../../../support/settings-stage.ts';
import {
  storeFor as emptyStore,
  notificationOf,
  relayerOf,
  storeFor,
  transactionOf,
} from '../../../../support/store.ts';

t.test('declarations', async (t) => {
  /** A declared relayer whose declaration in the file matches its fields. */
  function declared(given: Partial<DeclaredRelayer> = {}): DeclaredRelayer {
    const { disabledReason: _, ...relayer } = relayerOf(given);
    const { name, paused, notificationId, customRpcUrls, policies } = relayer;
    const declaration = {
      name,
      paused,
      ...(notificationId === null ? {} : { notification_id: notificationId }),
      ...(customRpcUrls === null ? {} : { custom_rpc_urls: customRpcUrls.map(({ url, weight }) => ({ url, weight })) }),
      policies,
    };
    return { ...relayer, declaration };
  }

  const silent = createLog('silent');

  /** A store that knows the chain of the relayers' network. */
  async function storeFor(t: Test): Promise<Store> {
    const store = await emptyStore(t);
    await store.write((writer) => writer.pinChainIdentity('evm', 'anvil', '31337:0x01'));
    return store;
  }

  t.test('what is declared for the first time is stored as declared', async (t) => {
    const store = await storeFor(t);
    const relayer = declared({ policies: { min_balance: '5' } });
    await applyRelayers(store, [relayer], silent);
    t.same(await store.read.relayer('relayer-1'), { ...relayer, disabledReason: null });
  });

  t.test('a relayer on a network that nobody has reached takes nothing yet, whether it is new or not', async (t) => {
    const store = await emptyStore(t);
    const disabledReason = notReachedYet('anvil');
    await applyRelayers(store, [declared()], silent);
    t.same((await store.read.relayer('relayer-1'))?.disabledReason, disabledReason);
    await store.write((writer) => writer.putRelayer({ ...declared(), disabledReason: null }));
    await applyRelayers(store, [declared()], silent);
    t.same((await store.read.relayer('relayer-1'))?.disabledReason, disabledReason);
  });

  /** Each field that clients can change: as first declared, as a client changed it, and as the file declares it later. */
  const FIELDS: [keyof DeclaredRelayer, { first: unknown; client: unknown; anew: unknown }][] = [
    ['name', { first: 'One', client: 'Changed', anew: 'Two' }],
    ['paused', { first: false, client: true, anew: false }],
    ['notificationId', { first: 'hook-1', client: null, anew: 'hook-2' }],
    [
      'customRpcUrls',
      { first: null, client: [{ url: 'http://b', weight: 1 }], anew: [{ url: 'http://c', weight: 100 }] },
    ],
    ['policies', { first: { min_balance: '1' }, client: { min_balance: '2' }, anew: { min_balance: '3' } }],
  ];

  for (const [field, { first, client, anew }] of FIELDS) {
    t.test(`${field}: a client's change outlives a restart until the file changes`, async (t) => {
      const store = await storeFor(t);
      await applyRelayers(store, [declared({ [field]: first })], silent);
      const stored = relayerOf({ ...(await store.read.relayer('relayer-1')), [field]: client });
      await store.write((writer) => writer.putRelayer(stored));

      await applyRelayers(store, [declared({ [field]: first })], silent);
      t.same((await store.read.relayer('relayer-1'))?.[field], client, 'the same file: the client’s value stays');
      if (field === 'paused') return;
      await applyRelayers(store, [declared({ [field]: anew })], silent);
      t.same((await store.read.relayer('relayer-1'))?.[field], anew, 'a changed file: its value counts');
    });
  }

  t.test('a pause in the file counts when the file changes', async (t) => {
    const store = await storeFor(t);
    await applyRelayers(store, [declared({ paused: false })], silent);
    await applyRelayers(store, [declared({ paused: true })], silent);
    t.equal((await store.read.relayer('relayer-1'))?.paused, true);
  });

  t.test('the order of keys in the file is no change', async (t) => {
    const store = await storeFor(t);
    const policies = { min_balance: '1', gas_price_cap: '2' };
    await applyRelayers(store, [declared({ policies })], silent);
    await store.write((writer) =>
      writer.putRelayer({ ...declared({ policies: {} }), disabledReason: null, declaration: { policies } }),
    );
    await applyRelayers(store, [declared({ policies: { gas_price_cap: '2', min_balance: '1' } })], silent);
    t.same((await store.read.relayer('relayer-1'))?.policies, {}, 'what the client made of it stays');
  });

  t.test('the signer, the network and the address always come from the file', async (t) => {
    const store = await storeFor(t);
    await applyRelayers(store, [declared()], silent);
    await applyRelayers(store, [declared({ signerId: 'other', network: 'sepolia', address: '0x01' })], silent);
    t.match(await store.read.relayer('relayer-1'), { signerId: 'other', network: 'sepolia', address: '0x01' });
  });

  t.test('why a relayer is disabled is not forgotten by a restart', async (t) => {
    const store = await storeFor(t);
    const disabledReason = { type: 'RpcValidationFailed', details: 'RPC endpoint validation failed' } as const;
    await applyRelayers(store, [declared()], silent);
    await store.write((writer) => writer.putRelayer({ ...declared(), disabledReason }));
    await applyRelayers(store, [declared()], silent);
    t.same((await store.read.relayer('relayer-1'))?.disabledReason, disabledReason);
  });

  t.test('what is no longer declared stays, with a warning', async (t) => {
    const lines: string[] = [];
    const log = createLog('warn', { write: (line) => lines.push(line) });
    const store = await storeFor(t);
    await applyRelayers(store, [declared()], log);
    t.same(lines, []);
    await applyRelayers(store, [], log);
    t.ok(await store.read.relayer('relayer-1'));
    t.match(lines.join(''), /"relayerId":"relayer-1".*no longer declared/);
    lines.length = 0;
    await applyRelayers(store, [], log, { reset: true, declaredIds: ['relayer-1'] });
    t.ok(await store.read.relayer('relayer-1'), 'nor does one go that is declared without an address');
    t.same(lines, []);
  });

  t.test('a reset takes all from the file, drops the rest, and keeps what has work under way', async (t) => {
    const store = await storeFor(t);
    const others = ['api-made', 'busy', 'done'].map((id) => relayerOf({ id }));
    const disabledReason = { type: 'RpcValidationFailed', details: 'RPC endpoint validation failed' } as const;
    const open = transactionOf({ relayerId: 'busy' });
    const ended = transactionOf({ relayerId: 'done' });
    await applyRelayers(store, [declared()], silent);
    await store.write(async (writer) => {
      await writer.putRelayer({ ...declared(), name: 'changed', paused: true, disabledReason });
      for (const relayer of others) await writer.putRelayer(relayer);
      for (const transaction of [open, ended]) await writer.insertTransaction(transaction);
      await writer.updateTransaction(ended.id, 'pending', { status: 'failed' });
    });
    await applyRelayers(store, [declared()], silent, { reset: true });
    t.same(await store.read.relayer('relayer-1'), { ...declared(), disabledReason: null });
    t.same((await store.read.allRelayers()).map(({ id }) => id).sort(), ['busy', 'relayer-1']);
    t.ok(await store.read.transaction('busy', open.id));
    t.ok(await store.read.transactionOfLane(ended.lane, ended.id), 'no transaction is deleted');
    await applyRelayers(store, [declared()], silent, { reset: true });
    t.equal((await store.read.allRelayers()).length, 2);
  });

  t.test(
    'those that have changed while the service runs are applied alone, and clients keep what they changed',
    async (t) => {
      const store = await storeFor(t);
      const other = declared({ id: 'relayer-2', name: 'Other' });
      await applyRelayers(store, [declared({ policies: { min_balance: '1' } }), other], silent);
      const stored = relayerOf({ ...(await store.read.relayer('relayer-1')), policies: { min_balance: '2' } });
      await store.write((writer) => writer.putRelayer(stored));
      await applyChangedRelayers(store, [declared({ name: 'Anew', policies: { min_balance: '1' } })]);
      t.match(await store.read.relayer('relayer-1'), { name: 'Anew', policies: { min_balance: '2' } });
      t.match(await store.read.relayer('relayer-2'), { name: 'Other' });
    },
  );
});

t.test('notification declarations', async (t) => {
  const silent = createLog('silent');
  const variables: Record<string, string> = { ONE: 'key one', TWO: 'key two' };
  const secretOf = ({ type, value }: { type: 'env' | 'plain'; value: string }) =>
    type === 'plain' ? value : (variables[value] ?? '');
  const entry = (given: Partial<DeclaredNotification> = {}): DeclaredNotification => ({
    id: 'hook-1',
    type: 'webhook',
    url: 'https://hooks.example/one',
    ...given,
  });
  const env = (value: string) => ({ type: 'env', value }) as const;
  const apply = (store: Store, ...entries: DeclaredNotification[]) =>
    applyNotifications(store, entries, secretOf, silent);
  const keyOf = async (store: Store) => (await store.read.signingKeys('hook-1'))[0]?.export().toString() ?? null;
  const urlOf = async (store: Store) => (await store.read.notification('hook-1'))?.url;

  t.test('what is declared for the first time is stored as declared', async (t) => {
    const store = await storeFor(t);
    await apply(store, entry({ signing_key: env('ONE') }), entry({ id: 'hook-2' }));
    t.match(await store.read.notification('hook-1'), { url: 'https://hooks.example/one', hasSigningKey: true });
    t.match(await store.read.notification('hook-2'), { hasSigningKey: false });
    t.equal(await keyOf(store), 'key one');
  });

  t.test("url: a client's change outlives a restart until the file changes", async (t) => {
    const store = await storeFor(t);
    await apply(store, entry());
    const stored = await store.read.notification('hook-1');
    await store.write((writer) =>
      writer.putNotification({
        ...notificationOf(),
        url: 'https://client.example/',
        declaration: stored?.declaration ?? null,
      }),
    );
    await apply(store, entry());
    t.equal(await urlOf(store), 'https://client.example/');
    await apply(store, entry({ url: 'https://hooks.example/two' }));
    t.equal(await urlOf(store), 'https://hooks.example/two');
  });

  t.test('signing_key: one that the file refers to is always that of the file', async (t) => {
    const store = await storeFor(t);
    await apply(store, entry({ signing_key: env('ONE') }));
    await store.write((writer) => writer.putSigningKey('hook-1', 'of a client'));
    await apply(store, entry({ signing_key: env('ONE') }));
    t.equal(await keyOf(store), 'key one');
    await apply(store, entry({ signing_key: env('TWO') }));
    t.equal(await keyOf(store), 'key two');
    await apply(store, entry());
    t.equal(await keyOf(store), null, 'taken out of the file, it is gone');
  });

  t.test('signing_key: one that a client gave stays while the file never named any', async (t) => {
    const store = await storeFor(t);
    await apply(store, entry());
    await store.write((writer) => writer.putSigningKey('hook-1', 'of a client'));
    await apply(store, entry());
    t.equal(await keyOf(store), 'of a client');
  });

  t.test('a key in the file itself is not remembered with the declaration', async (t) => {
    const store = await storeFor(t);
    await apply(store, entry({ signing_key: { type: 'plain', value: 'nobody may see this' } }));
    t.equal(await keyOf(store), 'nobody may see this');
    t.notMatch(JSON.stringify(await store.read.notification('hook-1')), /nobody/);
  });

  t.test('one that a client made becomes the file’s when the file declares its id', async (t) => {
    const store = await storeFor(t);
    await store.write(async (writer) => {
      await writer.putNotification(notificationOf({ url: 'https://client.example/' }));
      await writer.putSigningKey('hook-1', 'of a client');
    });
    await apply(store, entry());
    t.match(await store.read.notification('hook-1'), { url: 'https://hooks.example/one', declaration: {} });
  });

  t.test('what is no longer declared stays, with a warning', async (t) => {
    const lines: string[] = [];
    const log = createLog('warn', { write: (line) => lines.push(line) });
    const store = await storeFor(t);
    await store.write((writer) => writer.putNotification(notificationOf({ id: 'made' })));
    await applyNotifications(store, [entry()], secretOf, log);
    t.same(lines, []);
    await applyNotifications(store, [], secretOf, log);
    t.ok(await store.read.notification('hook-1'));
    t.equal(lines.length, 1);
    t.match(lines[0], /"notification":"hook-1".*no longer declared/);
  });

  t.test('a reset takes all from the file and drops the rest', async (t) => {
    const store = await storeFor(t);
    await apply(store, entry(), entry({ id: 'gone' }));
    await store.write(async (writer) => {
      await writer.putNotification(notificationOf({ id: 'api-made' }));
      await writer.putNotification({ ...notificationOf({ id: 'hook-1' }), url: 'https://client.example/' });
      await writer.putSigningKey('hook-1', 'given by a client');
    });
    await applyNotifications(store, [entry()], secretOf, silent, { reset: true });
    t.strictSame(
      (await store.read.allNotifications()).map(({ id }) => id),
      ['hook-1'],
    );
    t.equal(await urlOf(store), 'https://hooks.example/one');
    t.equal(await keyOf(store), null);
  });

  t.test('second_signing_key: as the file says, beside the first', async (t) => {
    const store = await storeFor(t);
    const keysOf = async () => (await store.read.signingKeys('hook-1')).map((key) => key.export().toString());
    await apply(store, entry({ signing_key: env('ONE'), second_signing_key: env('TWO') }));
    t.strictSame(await keysOf(), ['key one', 'key two']);
    await apply(store, entry({ signing_key: env('TWO') }));
    t.strictSame(await keysOf(), ['key two']);
  });

  t.test('one that has changed while the service runs is applied alone', async (t) => {
    const store = await storeFor(t);
    await apply(store, entry(), entry({ id: 'other' }));
    await store.write((writer) =>
      writer.putNotification({ ...notificationOf({ id: 'other' }), url: 'https://client.example/' }),
    );
    await applyChangedNotifications(
      store,
      [entry({ url: 'https://hooks.example/two', signing_key: env('ONE') })],
      secretOf,
    );
    t.equal(await urlOf(store), 'https://hooks.example/two');
    t.equal(await keyOf(store), 'key one');
    t.equal((await store.read.notification('other'))?.url, 'https://client.example/');
  });
});

t.test('network declarations', async (t) => {
  const URLS = [{ url: 'https://declared.example', weight: 100 }];
  const declared = (name: string, isBuiltIn = false): ConfiguredNetwork => ({
    type: 'evm',
    name,
    rpcUrls: URLS,
    settings: {},
    isBuiltIn,
  });
  const stored = (name: string, settings: StoredNetwork['settings'], declaration: string | null): StoredNetwork => ({
    type: 'evm',
    name,
    rpcUrls: [{ url: 'https://changed.example', weight: 1 }],
    settings,
    declaration,
  });

  async function stage(t: Test, ...networks: StoredNetwork[]) {
    const store = await storeFor(t);
    await store.write(async (writer) => {
      for (const network of networks) await writer.putNetwork(network);
      await writer.putRelayer(relayerOf({ network: 'used' }));
    });
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => void lines.push(line) });
    const apply = async (configured: ConfiguredNetwork[], options = {}) => {
      await applyNetworks(store, configured, log, options);
      return (await store.read.storedNetworks()).map(({ name }) => name).toSorted();
    };
    return { apply, lines };
  }

  t.test('a file that says what it said before leaves what clients made of it', async (t) => {
    const { apply, lines } = await stage(t, stored('mine', null, rpcUrlsDigest(URLS)), stored('sepolia', null, null));
    t.strictSame(await apply([declared('mine'), declared('sepolia', true)]), ['mine', 'sepolia']);
    t.strictSame(lines, []);
  });

  t.test('what a file says anew counts', async (t) => {
    const { apply, lines } = await stage(
      t,
      stored('mine', null, rpcUrlsDigest([])),
      stored('sepolia', null, null),
      stored('custom', {}, null),
    );
    t.strictSame(await apply([declared('mine'), declared('sepolia'), declared('custom')]), []);
    t.equal(lines.length, 3);
    t.match(lines[0], /"network":"evm:\w+".*as its file declares it again/);
  });

  t.test('a declaration that is gone deletes nothing', async (t) => {
    const { apply } = await stage(t, stored('mine', null, rpcUrlsDigest(URLS)), stored('custom', {}, null));
    t.strictSame(await apply([]), ['custom', 'mine']);
  });

  t.test('with a reset all is as the files say, but what relayers are on', async (t) => {
    const { apply } = await stage(
      t,
      stored('mine', null, rpcUrlsDigest(URLS)),
      stored('custom', {}, null),
      stored('used', {}, null),
    );
    t.strictSame(await apply([declared('mine')], { reset: true }), ['used']);
  });
});

t.test('plugin declarations', async (t) => {
  const entry = (given: object = {}) => ({ ...undeclaredPluginEntry('p', 'p.ts'), ...given });
  const changed = (pluginId: string): StoredPlugin => ({
    pluginId,
    settings: { timeout: 5, emit_logs: true },
    isDisabled: true,
    declared: { timeout: pluginFieldDigest(entry(), 'timeout'), emit_logs: pluginFieldDigest(entry(), 'emit_logs') },
  });

  t.test('a field that the file says something else of is the file’s, the others stay', async (t) => {
    const store = await storeFor(t);
    await store.write(async (writer) => {
      await writer.putPlugin(changed('p'));
      await writer.putPlugin(changed('dropped-in'));
    });
    const settingsOf = async (id: string) => (await store.read.storedPlugin(id))?.settings;
    await applyPlugins(store, [entry()]);
    t.strictSame(await settingsOf('p'), { timeout: 5, emit_logs: true });
    await applyPlugins(store, [entry({ timeout: 60 })]);
    t.strictSame(await settingsOf('p'), { emit_logs: true });
    t.strictSame(await settingsOf('dropped-in'), { timeout: 5, emit_logs: true });
    t.match(await store.read.storedPlugin('p'), { isDisabled: true });
    await applyPlugins(store, [entry()], { reset: true });
    t.strictSame(await store.read.storedPlugins(), []);
  });
});

t.test(
  'the configuration’s take the place of those of clients, which go with a reset unless a relayer uses them',
  async (t) => {
    const store = await storeFor(t);
    for (const id of ['used', 'unused', 'both']) await putSigner(store, id);
    await store.write((writer) => writer.putRelayer(relayerOf({ signerId: 'used' })));
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => void lines.push(line) });
    const left = async () => (await store.read.allSigners()).map(({ id }) => id).toSorted((a, b) => (a < b ? -1 : 1));

    await applySigners(store, [{ id: 'both' }], log);
    t.strictSame(await left(), ['both', 'unused', 'used']);
    t.equal(lines.length, 1);
    t.match(lines[0], /"signer":"both"/);
    await applySigners(store, [{ id: 'both' }], log, { reset: true });
    t.strictSame(await left(), ['used']);
  },
);
