import t, { type Test } from 'tap';
import { notReachedYet } from '../../../../../src/domain/relayer/disabled-reason.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import {
  applyChangedDeclarations,
  applyDeclarations,
  type DeclaredRelayer,
} from '../../../../../src/services/declarations/declarations.ts';
import type { Store } from '../../../../../src/store/store.ts';
import { storeFor as emptyStore, relayerOf, transactionOf } from '../../../../support/store.ts';

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
  await applyDeclarations(store, [relayer], silent);
  t.same(await store.read.relayer('relayer-1'), { ...relayer, disabledReason: null });
});

t.test('a relayer on a network that nobody has reached takes nothing yet, whether it is new or not', async (t) => {
  const store = await emptyStore(t);
  const disabledReason = notReachedYet('anvil');
  await applyDeclarations(store, [declared()], silent);
  t.same((await store.read.relayer('relayer-1'))?.disabledReason, disabledReason);
  await store.write((writer) => writer.putRelayer({ ...declared(), disabledReason: null }));
  await applyDeclarations(store, [declared()], silent);
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
    await applyDeclarations(store, [declared({ [field]: first })], silent);
    const stored = relayerOf({ ...(await store.read.relayer('relayer-1')), [field]: client });
    await store.write((writer) => writer.putRelayer(stored));

    await applyDeclarations(store, [declared({ [field]: first })], silent);
    t.same((await store.read.relayer('relayer-1'))?.[field], client, 'the same file: the client’s value stays');
    if (field === 'paused') return;
    await applyDeclarations(store, [declared({ [field]: anew })], silent);
    t.same((await store.read.relayer('relayer-1'))?.[field], anew, 'a changed file: its value counts');
  });
}

t.test('a pause in the file counts when the file changes', async (t) => {
  const store = await storeFor(t);
  await applyDeclarations(store, [declared({ paused: false })], silent);
  await applyDeclarations(store, [declared({ paused: true })], silent);
  t.equal((await store.read.relayer('relayer-1'))?.paused, true);
});

t.test('the order of keys in the file is no change', async (t) => {
  const store = await storeFor(t);
  const policies = { min_balance: '1', gas_price_cap: '2' };
  await applyDeclarations(store, [declared({ policies })], silent);
  await store.write((writer) =>
    writer.putRelayer({ ...declared({ policies: {} }), disabledReason: null, declaration: { policies } }),
  );
  await applyDeclarations(store, [declared({ policies: { gas_price_cap: '2', min_balance: '1' } })], silent);
  t.same((await store.read.relayer('relayer-1'))?.policies, {}, 'what the client made of it stays');
});

t.test('the signer, the network and the address always come from the file', async (t) => {
  const store = await storeFor(t);
  await applyDeclarations(store, [declared()], silent);
  await applyDeclarations(store, [declared({ signerId: 'other', network: 'sepolia', address: '0x01' })], silent);
  t.match(await store.read.relayer('relayer-1'), { signerId: 'other', network: 'sepolia', address: '0x01' });
});

t.test('why a relayer is disabled is not forgotten by a restart', async (t) => {
  const store = await storeFor(t);
  const disabledReason = { type: 'RpcValidationFailed', details: 'RPC endpoint validation failed' } as const;
  await applyDeclarations(store, [declared()], silent);
  await store.write((writer) => writer.putRelayer({ ...declared(), disabledReason }));
  await applyDeclarations(store, [declared()], silent);
  t.same((await store.read.relayer('relayer-1'))?.disabledReason, disabledReason);
});

t.test('what is no longer declared stays, with a warning', async (t) => {
  const lines: string[] = [];
  const log = createLog('warn', { write: (line) => lines.push(line) });
  const store = await storeFor(t);
  await applyDeclarations(store, [declared()], log);
  t.same(lines, []);
  await applyDeclarations(store, [], log);
  t.ok(await store.read.relayer('relayer-1'));
  t.match(lines.join(''), /"relayerId":"relayer-1".*no longer declared/);
  lines.length = 0;
  await applyDeclarations(store, [], log, { reset: true, declaredIds: ['relayer-1'] });
  t.ok(await store.read.relayer('relayer-1'), 'nor does one go that is declared without an address');
  t.same(lines, []);
});

t.test('a reset takes all from the file, drops the rest, and keeps what has work under way', async (t) => {
  const store = await storeFor(t);
  const others = ['api-made', 'busy', 'done'].map((id) => relayerOf({ id }));
  const disabledReason = { type: 'RpcValidationFailed', details: 'RPC endpoint validation failed' } as const;
  const open = transactionOf({ relayerId: 'busy' });
  const ended = transactionOf({ relayerId: 'done' });
  await applyDeclarations(store, [declared()], silent);
  await store.write(async (writer) => {
    await writer.putRelayer({ ...declared(), name: 'changed', paused: true, disabledReason });
    for (const relayer of others) await writer.putRelayer(relayer);
    for (const transaction of [open, ended]) await writer.insertTransaction(transaction);
    await writer.updateTransaction(ended.id, 'pending', { status: 'failed' });
  });
  await applyDeclarations(store, [declared()], silent, { reset: true });
  t.same(await store.read.relayer('relayer-1'), { ...declared(), disabledReason: null });
  t.same((await store.read.allRelayers()).map(({ id }) => id).sort(), ['busy', 'relayer-1']);
  t.ok(await store.read.transaction('busy', open.id));
  t.ok(await store.read.transactionOfLane(ended.lane, ended.id), 'no transaction is deleted');
  await applyDeclarations(store, [declared()], silent, { reset: true });
  t.equal((await store.read.allRelayers()).length, 2);
});

t.test(
  'those that have changed while the service runs are applied alone, and clients keep what they changed',
  async (t) => {
    const store = await storeFor(t);
    const other = declared({ id: 'relayer-2', name: 'Other' });
    await applyDeclarations(store, [declared({ policies: { min_balance: '1' } }), other], silent);
    const stored = relayerOf({ ...(await store.read.relayer('relayer-1')), policies: { min_balance: '2' } });
    await store.write((writer) => writer.putRelayer(stored));
    await applyChangedDeclarations(store, [declared({ name: 'Anew', policies: { min_balance: '1' } })]);
    t.match(await store.read.relayer('relayer-1'), { name: 'Anew', policies: { min_balance: '2' } });
    t.match(await store.read.relayer('relayer-2'), { name: 'Other' });
  },
);
