import t from 'tap';
import type { Relayer } from '../../../../../src/features/relayers/records/relayer.ts';
import { EngineWorld, pendingTransaction, present, relayerNamed } from '../../../../support/engine-world.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

async function worldWith(t: Parameters<typeof EngineWorld.open>[0], relayer: Partial<Relayer> = {}) {
  const world = await EngineWorld.open(t);
  const notifying = relayerNamed('r1', { notificationId: 'hook-1', ...relayer });
  await world.store.write((writer) => writer.putRelayer(notifying));
  const events = () => world.store.write((writer) => writer.claimEvents('hook-1', 100, 0));
  return { world, notifying, events };
}

t.test("an event of a transaction has the reference's keys in its order", async (t) => {
  const { world, events } = await worldWith(t);
  const transaction = pendingTransaction('pay', { status: 'sent', sequence: 2n ** 60n });
  await world.store.write((writer) => world.outbox.transactionsMoved(writer, [transaction]));
  const [event] = await events();
  const { body, id, subject } = present(event);
  t.equal(subject, `transaction:${transaction.id}`);
  const json = JSON.parse(body);
  t.strictSame(Object.keys(json), ['id', 'event', 'payload', 'timestamp']);
  t.match(json, { id, event: 'transaction_update' });
  t.match(id, UUID);
  t.match(json.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
  t.strictSame(Object.keys(json.payload), ['payload_type', 'id', 'hash', 'status', 'status_reason', 'nonce']);
  t.equal(json.payload.payload_type, 'transaction');
  t.match(body, /"nonce":1152921504606846976[,}]/, 'exact beyond 2^53');
  t.equal(body, body.trim());
  t.notMatch(body, /": |, "/, 'compact');
});

t.test('relayers without a notification, and families that are not known, tell nothing', async (t) => {
  const { world, notifying } = await worldWith(t);
  await world.store.write(async (writer) => {
    await writer.putRelayer(relayerNamed('quiet'));
    await writer.putRelayer(relayerNamed('foreign', { networkType: 'solana', notificationId: 'hook-1' }));
    const moved = ['quiet', 'foreign', 'nobody'].map((relayerId) => pendingTransaction('pay', { relayerId }));
    await world.outbox.transactionsMoved(writer, moved);
    await world.outbox.relayerEnabled(writer, { ...notifying, notificationId: null }, 0);
  });
  t.equal(await world.store.read.waitingEvents(), 0);
});

t.test('a relayer that was disabled or enabled is told as it is then, without keys of its endpoints', async (t) => {
  const reason = {
    type: 'Multiple',
    details: [
      { type: 'RpcValidationFailed', details: 'RPC endpoint validation failed' },
      { type: 'BalanceCheckFailed', details: 'Insufficient balance' },
    ],
  } as const satisfies Relayer['disabledReason'];
  const { world, notifying, events } = await worldWith(t, {
    customRpcUrls: [{ url: 'https://rpc.example/v3/secret', weight: 100 }],
    policies: { min_balance: '5' },
  });
  const single = { type: 'BalanceCheckFailed', details: 'Insufficient balance' } as const;
  await world.store.write(async (writer) => {
    await world.outbox.relayerDisabled(
      writer,
      { ...notifying, disabledReason: { ...reason, details: [...reason.details] } },
      {
        ...reason,
        details: [...reason.details],
      },
    );
  });
  const [disabled] = await events();
  const first = JSON.parse(present(disabled).body);
  t.equal(first.event, 'relayer_state_update');
  t.strictSame(Object.keys(first.payload), ['payload_type', 'relayer', 'disable_reason']);
  t.equal(first.payload.payload_type, 'relayer_disabled');
  t.equal(first.payload.disable_reason, 'RPC endpoint validation failed; Insufficient balance');
  t.strictSame(Object.keys(first.payload.relayer), [
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
  t.notMatch(present(disabled).body, /secret/);

  await world.store.write(async (writer) => {
    await writer.settleEvent({ ...present(disabled), tries: 1 }, { outcome: '', end: 'delivered' });
    await world.outbox.relayerDisabled(writer, notifying, single);
    await world.outbox.relayerEnabled(writer, notifying, 3);
  });
  const [again] = await events();
  t.equal(JSON.parse(present(again).body).payload.disable_reason, 'Insufficient balance');
  await world.store.write((writer) => writer.settleEvent(present(again), { outcome: '', end: 'delivered' }));
  const [enabled] = await events();
  const last = JSON.parse(present(enabled).body);
  t.strictSame(Object.keys(last.payload), ['payload_type', 'relayer', 'retry_count']);
  t.match(last.payload, { payload_type: 'relayer_enabled', retry_count: 3, relayer: { system_disabled: false } });
});

t.test('what cannot be shown costs its event, not the commit', async (t) => {
  const { world } = await worldWith(t);
  world.family.transactionView = () => {
    throw new Error('unreadable');
  };
  const kept = await world.store.write(async (writer) => {
    await world.outbox.transactionsMoved(writer, [pendingTransaction('pay')]);
    return 'kept';
  });
  t.equal(kept, 'kept');
  t.equal(await world.store.read.waitingEvents(), 0);
  t.match(world.logLines.join(''), /a webhook event could not be created/);
});

t.test('a commit is told as a hint', async (t) => {
  const { world } = await worldWith(t);
  world.outbox.committed();
  t.equal(world.hints, 1);
});
