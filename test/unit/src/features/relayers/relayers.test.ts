import t from 'tap';
import { operatorOnce } from '../../../../support/caller.ts';
import { EngineWorld, LANE, relayerNamed } from '../../../../support/engine-world.ts';
import { eventually } from '../../../../support/eventually.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';
import { settingsStage } from '../../../../support/settings-stage.ts';
import { relayerOf, transactionOf } from '../../../../support/store.ts';

t.test("a relayer shows in the reference's order of keys, without what is unset", async (t) => {
  const world = await EngineWorld.open(t);
  const { relayers } = world.services();
  const view = await relayers.get('r1');
  t.strictSame(Object.keys(view), [
    'id',
    'name',
    'network',
    'network_type',
    'paused',
    'signer_id',
    'address',
    'system_disabled',
  ]);
  t.match(view, { system_disabled: false, network_type: 'evm' });
});

t.test('a relayer with everything set shows everything, and no key of an endpoint', async (t) => {
  const world = await EngineWorld.open(t);
  const full = relayerNamed('full', {
    policies: { min_balance: '5' },
    notificationId: 'n1',
    customRpcUrls: [{ url: 'https://rpc.example/v3/secret', weight: 100 }],
    disabledReason: { type: 'NonceSyncFailed', details: 'Nonce synchronization failed' },
  });
  await world.store.write((writer) => writer.putRelayer(full));
  const view = await world.services().relayers.get('full');
  t.strictSame(Object.keys(view), [
    'id',
    'name',
    'network',
    'network_type',
    'paused',
    'policies',
    'signer_id',
    'notification_id',
    'custom_rpc_urls',
    'address',
    'system_disabled',
    'disabled_reason',
  ]);
  t.match(view, { custom_rpc_urls: [{ url: 'https://rpc.example/***', weight: 100 }], system_disabled: true });
  t.notMatch(JSON.stringify(view), /secret/);
});

t.test('lists are pages of the same views', async (t) => {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r2')));
  const { items, total } = await world.services().relayers.list({ page: 1, perPage: 1 });
  t.equal(total, 2);
  t.equal(items.length, 1);
});

t.test('status and balance are exact beyond the digits of a float', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.balance = 123_456_789_012_345_678_901n;
  const { relayers } = world.services();
  await world.accept('waiting');
  t.strictSame(await relayers.balance('r1'), { balance: 123_456_789_012_345_678_901n, unit: 'wei' });
  const status = await relayers.status('r1');
  t.strictSame(status, {
    network_type: 'evm',
    balance: '123456789012345678901',
    pending_transactions_count: 1,
    last_confirmed_transaction_timestamp: null,
    system_disabled: false,
    paused: false,
    nonce: '0',
  });
});

t.test('the status tells when the last transaction was confirmed', async (t) => {
  const world = await EngineWorld.open(t);
  const transaction = await world.accept('pay');
  const change = { status: 'confirmed', confirmedAt: 1_700_000_000_000 } as const;
  await world.store.write(async (writer) => {
    await writer.updateTransaction(transaction.id, 'pending', { status: 'sent', sequence: 0n });
    await writer.updateTransaction(transaction.id, 'sent', change);
  });
  const status = await world.services().relayers.status('r1');
  t.equal(status['last_confirmed_transaction_timestamp'], '2023-11-14T22:13:20.000+00:00');
  t.equal(status['pending_transactions_count'], 0);
});

t.test('an unknown relayer is 404 everywhere', async (t) => {
  const world = await EngineWorld.open(t);
  const { relayers } = world.services();
  for (const ask of [relayers.get, relayers.status, relayers.balance]) {
    await t.rejects(async () => ask('none'), { code: 'RELAYER_NOT_FOUND' });
  }
});

t.test('with endpoints that fail or hang, what is stored is told, and of the rest why not', async (t) => {
  const world = await EngineWorld.open(t);
  const { relayers } = world.services();
  await world.accept('waiting');
  world.chain.fault = () => 'request-lost';
  t.match(await relayers.balance('r1'), { balance: null, unit: 'wei', unavailable: { balance: /balance timed out/ } });
  t.match(await relayers.status('r1'), {
    balance: null,
    nonce: null,
    pending_transactions_count: 1,
    system_disabled: false,
    unavailable: { balance: /network fake failed: balance timed out/, nonce: /timed out/ },
  });
  const signed = await world.accept('signed');
  await world.store.write((writer) => writer.updateTransaction(signed.id, 'pending', { status: 'sent', sequence: 6n }));
  const known = await relayers.status('r1');
  t.match(known, { nonce: '7', unavailable: { nonce: undefined } }, 'as far as it is signed');
  await world.store.write(async (writer) => {
    await writer.settleSequence(LANE, 8n);
    await writer.updateTransaction(signed.id, 'sent', { status: 'confirmed' });
  });
  t.match(await relayers.status('r1'), { nonce: '9' });

  world.client.balance = () => new Promise(() => {});
  t.match(await relayers.balance('r1'), { unavailable: { balance: 'no endpoint has answered within 5 s' } });
  world.client.balance = () => Promise.reject(new TypeError('a fault of our own'));
  await t.rejects(relayers.balance('r1'), { name: 'TypeError' });
});

t.test('the sequence in the status goes on from what is signed, and never behind the chain', async (t) => {
  const world = await EngineWorld.open(t);
  const nonce = async () => (await world.services().relayers.status('r1'))['nonce'];
  const transaction = await world.accept('pay');
  await world.store.write((writer) =>
    writer.updateTransaction(transaction.id, 'pending', { status: 'sent', sequence: 6n }),
  );
  t.equal(await nonce(), '7', 'no node has it yet');
  world.client.sequences.next = async () => 9n;
  t.equal(await nonce(), '9');
  const sequence = { ...world.family.sequence, showsLast: true };
  Object.defineProperty(world.family, 'sequence', { value: sequence });
  t.equal(await nonce(), '8', 'in a family whose clients count on themselves');
});

t.test('those who ask for a status meanwhile share one look, which begins after they have asked', async (t) => {
  const world = await EngineWorld.open(t);
  const looks: PromiseWithResolvers<bigint>[] = [];
  world.client.balance = () => {
    const look = Promise.withResolvers<bigint>();
    looks.push(look);
    return look.promise;
  };
  const { relayers } = world.services();
  const first = relayers.status('r1');
  await eventually(() => looks.length === 1, Boolean);
  const sent = await world.accept('sent after the first look began');
  const later = [relayers.status('r1'), relayers.status('r1'), relayers.status('r1')];
  looks[0]?.resolve(1n);
  t.match(await first, { balance: '1', pending_transactions_count: 0 });
  await eventually(() => looks.length === 2, Boolean);
  const last = relayers.status('r1');
  looks[1]?.reject(new TypeError('a fault of our own'));
  for (const one of later) await t.rejects(one, { name: 'TypeError' });
  await eventually(() => looks.length === 3, Boolean);
  looks[2]?.resolve(3n);
  t.match(await last, { balance: '3', pending_transactions_count: 1 }, `a failed look is nobody else's: ${sent.id}`);
  t.equal(looks.length, 3);
});

t.test('a look that hangs holds up the next one only for a moment', async (t) => {
  const world = await EngineWorld.open(t);
  const { relayers } = world.services();
  const hung = Promise.withResolvers<bigint>();
  let asked = 0;
  world.client.balance = () => {
    asked += 1;
    return asked === 1 ? hung.promise : Promise.resolve(2n);
  };
  const first = relayers.status('r1');
  await eventually(() => asked === 1, Boolean);
  t.match(await relayers.status('r1'), { balance: '2' });
  hung.resolve(1n);
  t.match(await first, { balance: '1' });
  t.match(await relayers.status('r1'), { balance: '2' });
  t.equal(asked, 3, 'one that is over is not shared');
});

t.test('figures are asked of endpoints of the chain that the network was found to be', async (t) => {
  const world = await EngineWorld.open(t);
  const asked: unknown[] = [];
  world.client.balance = async (...question: unknown[]) => {
    asked.push(question[1]);
    return 1n;
  };
  world.client.sequences.next = async (...question: unknown[]) => {
    asked.push(question[1]);
    return 1n;
  };
  const { relayers } = world.services();
  await relayers.status('r1');
  await relayers.balance('r1');
  t.strictSame(asked, [{ identity: '31337' }, '31337', { identity: '31337' }]);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('new', { network: 'fresh' })));
  t.match(await relayers.status('new'), { nonce: '1' }, 'also before the first contact');
});

t.test('a relayer goes when nothing of it is under way', async (t) => {
  const { remove, store, rechecked, audit } = await settingsStage(t);
  await store.write((writer) => writer.putRelayer(relayerOf({ id: 'old', network: 'sepolia' })));
  const open = transactionOf({ relayerId: 'old' });
  await store.write((writer) => writer.insertTransaction(open));
  for (const [seen, status] of [
    ['pending', 'sent'],
    ['sent', 'submitted'],
    ['submitted', 'mined'],
    ['mined', 'confirmed'],
  ] as const) {
    await t.rejects(remove('old'), {
      code: 'RELAYER_BUSY',
      status: 409,
      publicMessage: 'Relayer is in use',
      message: /^Cannot delete relayer 'old' because it has 1 transaction\(s\)\. /,
    });
    await store.write((writer) => writer.updateTransaction(open.id, seen, { status }));
  }
  await remove('old');
  t.equal(await store.read.relayer('old'), undefined);
  t.strictSame(rechecked, ['old'], 'whoever watches it is told');
  t.match(await audit(), [{ action: 'delete', resourceId: 'old', before: { id: 'old' }, after: null }]);
  t.ok(await store.read.transactionOfLane(open.lane, open.id), 'what has ended is kept');
  await t.rejects(remove('old'), { code: 'RELAYER_NOT_FOUND', status: 404 });
});

t.test('under one name it goes once', async (t) => {
  const { remove, store } = await settingsStage(t);
  await store.write((writer) => writer.putRelayer(relayerOf({ id: 'old' })));
  const once = operatorOnce(await keyedEffect(store));
  await remove('old', once);
  await remove('old', once);
  t.equal(await store.read.relayer('old'), undefined);
});
