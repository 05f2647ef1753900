import t, { type Test } from 'tap';
import type { Engine } from '../../../../../src/engine/engine.ts';
import { RelayerDirectory } from '../../../../../src/features/relayers/relayer-access.ts';
import type { LifecycleService } from '../../../../../src/features/services.ts';
import type { Intent, IntentAction } from '../../../../../src/features/transactions/records/intent.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import { isFinal } from '../../../../../src/features/transactions/records/transaction-state.ts';
import { createLifecycleService } from '../../../../../src/features/transactions/transaction-changes.ts';
import type { Store } from '../../../../../src/store/store.ts';
import { EngineWorld, LANE, present, relayerNamed } from '../../../../support/engine-world.ts';
import { VOID } from '../../../../support/fake-chain-client.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';
import { attemptOf } from '../../../../support/store.ts';

/** A world with a running engine, which processes what is accepted. */
async function driven(t: Test): Promise<{ world: EngineWorld; engine: Engine; lifecycle: LifecycleService }> {
  const world = await EngineWorld.open(t);
  const engine = world.engine();
  t.teardown(() => engine.close());
  await engine.start();
  return { world, engine, lifecycle: world.services(engine).lifecycle };
}

/** A lane that settles each intent with this outcome. Undefined: the intent stays. */
function settledBy(world: EngineWorld, outcome: (intent: Intent) => string | null | undefined) {
  const listeners = new Set<() => void>();
  return {
    wake: async (lane: string) => {
      for (const intent of await world.store.read.intents(lane, 100)) {
        const refusal = outcome(intent);
        if (refusal === undefined) continue;
        await world.store.write((writer) => writer.settleIntent(intent.position, refusal));
      }
      for (const listener of listeners) listener();
    },
    onChange: (_id: string, listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    listeners,
  };
}

function lifecycleOver(
  world: EngineWorld,
  engine: Pick<Engine, 'wake' | 'onChange'>,
  more: { settlingMs?: number; store?: Store } = {},
): LifecycleService {
  const { store = world.store, settlingMs } = more;
  return createLifecycleService({
    store,
    relayers: new RelayerDirectory({
      read: store.read,
      chains: new Map([['evm', world.family]]),
      connections: { clientOf: () => world.client, close: async () => {} },
    }),
    engine,
    log: world.log,
    clock: { elapsed: () => performance.now() },
    ...(settlingMs === undefined ? {} : { settlingMs }),
  });
}

/** Waits until each one is canceled or a node has accepted its latest version. From then on only a block decides. */
async function untilOffered(world: EngineWorld, effect: string, ...transactions: Transaction[]): Promise<void> {
  for (const transaction of transactions) {
    await world.until(`${transaction.id} is offered to do ${effect}`, async () => {
      if ((await world.get(transaction)).status === 'canceled') return true;
      const latest = (await world.store.read.attempts(transaction.id)).at(-1);
      return latest?.request['effect'] === effect && latest.acceptedAt !== null;
    });
  }
}

async function inStatus(world: EngineWorld, status: Transaction['status']): Promise<Transaction> {
  const signed = status === 'pending' ? {} : { sequence: 0n, hash: '0x1' };
  return world.accept('pay', { status, ...signed, ...(isFinal(status) && { nextActionAt: null }) });
}

t.test('a pending transaction is canceled at once and never has an effect', async (t) => {
  const { world, lifecycle } = await driven(t);
  world.client.onPrepare = () => ({ kind: 'parked', reason: 'too dear', retryInMs: 60_000 });
  const transaction = await world.accept('pay');
  const view = await lifecycle.cancel('r1', transaction.id);
  t.match(view, { id: transaction.id, status: 'canceled', status_reason: 'Transaction canceled by user' });
  t.match(await world.get(transaction), {
    status: 'canceled',
    noopEnd: 'canceled',
    sequence: null,
    nextActionAt: null,
  });
  t.strictSame(world.chain.received, []);
});

t.test('a submitted transaction is canceled by a version that does nothing', async (t) => {
  const { world, lifecycle } = await driven(t);
  const transaction = await world.accept('pay');
  await world.untilStatus(transaction, 'submitted');
  const view = await lifecycle.cancel('r1', transaction.id);
  t.match(view, {
    status: 'submitted',
    status_reason: 'Transaction canceled by user, replacing with NOOP',
  });
  t.equal((await world.get(transaction)).noopEnd, 'canceled');
  await untilOffered(world, VOID, transaction);
  await world.untilStatus(transaction, 'canceled', { mining: true });
  t.strictSame(
    world.chain.executed.map(({ transaction: { effect } }) => effect),
    [VOID],
  );
});

t.test('a replaced transaction does what it was asked last, under the nonce that it had', async (t) => {
  const { world, lifecycle } = await driven(t);
  const transaction = await world.accept('pay');
  await world.untilStatus(transaction, 'submitted');
  const before = await world.get(transaction);
  const validUntil = Date.now() + 3_600_000;
  const view = await lifecycle.replace('r1', transaction.id, { effect: 'pay another', validUntil });
  t.equal(view['id'], transaction.id);
  t.not(view['hash'], before.hash);
  const after = await world.get(transaction);
  t.match(after, { sequence: before.sequence, request: { effect: 'pay another' } });
  await world.until('the end is kept', async () => (await world.get(transaction)).validUntil === validUntil);

  await lifecycle.replace('r1', transaction.id, { effect: 'pay a third' });
  await untilOffered(world, 'pay a third', transaction);
  t.equal((await world.get(transaction)).validUntil, validUntil, 'an absent end leaves it as it is');
  await world.untilStatus(transaction, 'confirmed', { mining: true });
  t.strictSame(
    world.chain.executed.map(({ transaction: { effect } }) => effect),
    ['pay a third'],
  );
});

t.test('a pending transaction can be replaced before anything is signed', async (t) => {
  const { world, lifecycle } = await driven(t);
  world.client.onPrepare = ({ request }) =>
    request['effect'] === 'pay' ? { kind: 'parked', reason: 'too dear', retryInMs: 60_000 } : undefined;
  const transaction = await world.accept('pay');
  const view = await lifecycle.replace('r1', transaction.id, { effect: 'pay another' });
  t.equal(view['id'], transaction.id);
  await world.untilStatus(transaction, 'confirmed', { mining: true });
  t.strictSame(
    world.chain.executed.map(({ transaction: { effect } }) => effect),
    ['pay another'],
  );
});

t.test('only what is in no block takes intents', async (t) => {
  const world = await EngineWorld.open(t);
  const { lifecycle } = world.services();
  for (const status of ['mined', 'confirmed', 'failed', 'canceled', 'expired'] as const) {
    const { id } = await inStatus(world, status);
    const current = status.charAt(0).toUpperCase() + status.slice(1);
    const text = (kind: string) =>
      `Invalid transaction state for ${kind}_transaction. Current: ${current}, Expected one of: [Pending, Sent, Submitted]`;
    await t.rejects(lifecycle.cancel('r1', id), { code: 'INVALID_REQUEST', message: text('cancel') });
    await t.rejects(lifecycle.replace('r1', id, { effect: 'x' }), {
      code: 'INVALID_REQUEST',
      message: text('replace'),
    });
  }
  t.strictSame(await world.store.read.intents(LANE, 10), [], 'no intent is stored');
});

t.test('in a family without replacements nothing is replaced, and nothing is asked of the lane', async (t) => {
  const world = await EngineWorld.open(t);
  const { id } = await world.accept('pay');
  Object.assign(world.client, { replacement: undefined });
  const lifecycle = lifecycleOver(
    world,
    settledBy(world, () => null),
  );
  await t.rejects(lifecycle.replace('r1', id, { effect: 'x' }), {
    code: 'INVALID_REQUEST',
    message: 'Replacing is not supported for evm transactions',
  });
  t.strictSame(await world.store.read.intents(LANE, 10), []);
});

t.test('a replacement is checked as a send is, before anything is stored', async (t) => {
  const world = await EngineWorld.open(t);
  const { lifecycle } = world.services();
  const { id } = await inStatus(world, 'submitted');
  await t.rejects(lifecycle.replace('none', id, {}), { code: 'RELAYER_NOT_FOUND' });
  await t.rejects(lifecycle.replace('r1', 'none', {}), { code: 'INVALID_REQUEST' }, 'the body first');
  await t.rejects(lifecycle.replace('r1', 'none', { effect: 'x' }), { code: 'TRANSACTION_NOT_FOUND' });
  await t.rejects(lifecycle.replace('r1', id, { effect: 'late', validUntil: 1 }), { code: 'INVALID_REQUEST' });
  await t.rejects(lifecycle.replace('r1', id, { effect: 'forbidden' }), {
    code: 'INVALID_REQUEST',
    message: 'This cannot be done in its place',
  });
  t.strictSame(await world.store.read.intents(LANE, 10), []);
});

t.test('a transaction takes intents under its own relayer only', async (t) => {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r2')));
  const { lifecycle } = world.services();
  const { id } = await inStatus(world, 'submitted');
  await t.rejects(lifecycle.cancel('r2', id), { code: 'TRANSACTION_NOT_FOUND' });
  await t.rejects(lifecycle.replace('r2', id, { effect: 'x' }), { code: 'TRANSACTION_NOT_FOUND' });
  await t.rejects(lifecycle.bySequence('r2', 0n), { code: 'NONCE_NOT_FOUND' });
  await t.rejects(lifecycle.timeline('r2', id), { code: 'TRANSACTION_NOT_FOUND' });
  t.match(await lifecycle.cancelPending('r2'), { total_processed: 0 });
  t.strictSame(await world.store.read.intents(LANE, 10), []);
});

t.test('a relayer that may not act takes no intents, and tells what happened', async (t) => {
  const world = await EngineWorld.open(t);
  const { lifecycle } = world.services();
  const { id } = await inStatus(world, 'submitted');
  const disabledReason = { type: 'RpcValidationFailed', details: 'why' } as const;
  for (const [code, state] of [
    ['RELAYER_PAUSED', { paused: true, disabledReason }],
    ['RELAYER_DISABLED', { disabledReason }],
  ] as const) {
    await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', state)));
    await t.rejects(lifecycle.cancel('r1', id), { code });
    await t.rejects(lifecycle.cancelPending('r1'), { code });
    await t.rejects(lifecycle.replace('r1', id, { wrong: true }), { code }, 'before the body is read');
    t.match(await lifecycle.bySequence('r1', 0n), { id });
    t.match(await lifecycle.timeline('r1', id), { transaction_id: id });
  }
  t.strictSame(await world.store.read.intents(LANE, 10), []);
});

t.test('what the lane refuses is 400 with its text', async (t) => {
  const world = await EngineWorld.open(t);
  const engine = settledBy(world, ({ action }) => (action.kind === 'replace' ? 'not for this price' : null));
  const lifecycle = lifecycleOver(world, engine);
  const { id } = await inStatus(world, 'submitted');
  await t.rejects(lifecycle.replace('r1', id, { effect: 'x' }), {
    code: 'INVALID_REQUEST',
    message: 'not for this price',
  });
  t.match(await lifecycle.cancel('r1', id), { id });
  t.equal(engine.listeners.size, 0, 'nobody listens any more');
});

t.test('what the lane cannot settle in time is kept, and answered as it is', async (t) => {
  const world = await EngineWorld.open(t);
  const engine = settledBy(world, () => undefined);
  const lifecycle = lifecycleOver(world, engine, { settlingMs: 20 });
  const { id } = await inStatus(world, 'submitted');
  t.match(await lifecycle.replace('r1', id, { effect: 'x' }), { id, status: 'submitted' });
  t.match(await lifecycle.cancel('r1', id), { id, status: 'submitted' });
  const intents = (await world.store.read.intents(LANE, 10)).map(({ action }) => action);
  t.match(intents, [
    { kind: 'replace', request: { effect: 'x' } },
    { kind: 'cancel' },
  ] satisfies Partial<IntentAction>[]);
  t.equal(engine.listeners.size, 0);
});

t.test('under one name an intent is stored once, and its transaction is there as long as the name', async (t) => {
  const world = await EngineWorld.open(t);
  const { id } = await inStatus(world, 'submitted');
  const lifecycle = lifecycleOver(
    world,
    settledBy(world, () => null),
  );
  const [cancel, replace] = [await keyedEffect(world.store), await keyedEffect(world.store)];
  for (let time = 0; time < 2; time += 1) {
    t.match(await lifecycle.cancel('r1', id, { effect: cancel }), { id });
    t.match(await lifecycle.replace('r1', id, { effect: 'x' }, { effect: replace }), { id });
  }
  t.equal((await world.store.read.intentRecords(id, 10)).length, 2);
  await world.store.write((writer) => writer.updateTransaction(id, 'submitted', { status: 'failed' }));
  t.equal(await world.store.write((writer) => writer.pruneTransactions(Date.now() + 1000, 10)), 0);
  t.match(await lifecycle.cancel('r1', id, { effect: cancel }), { id, status: 'failed' });
});

t.test('an intent that was settled although nobody told is found', async (t) => {
  const world = await EngineWorld.open(t);
  const silent = { ...settledBy(world, () => null), onChange: () => () => {} };
  const { id } = await inStatus(world, 'submitted');
  const begun = performance.now();
  t.match(await lifecycleOver(world, silent, { settlingMs: 60_000 }).cancel('r1', id), { id });
  t.ok(performance.now() - begun < 30_000, 'long before its time is over');
});

t.test('all that are in no block are canceled, whatever their number', async (t) => {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r2')));
  const accepted: Transaction[] = [];
  for (let index = 0; index < 120; index += 1) accepted.push(await world.accept(`pay ${index}`));
  const other = await world.accept('of another', { relayerId: 'r2' });
  const engine = world.engine({ timing: { inFlight: 40 } });
  t.teardown(() => engine.close());
  await engine.start();
  const counts = () => world.store.read.openCounts();
  await world.until('some are submitted, and some wait', async () =>
    (await counts()).some(({ status, count }) => status === 'submitted' && count >= 40),
  );
  const { lifecycle } = world.services(engine);
  const answer = await lifecycle.cancelPending('r1');
  t.strictSame(answer, {
    queued_for_cancellation_transaction_ids: accepted.map(({ id }) => id),
    failed_to_queue_transaction_ids: [],
    total_processed: 120,
  });
  await untilOffered(world, VOID, ...accepted);
  for (const transaction of accepted) await world.untilStatus(transaction, 'canceled', { mining: true });
  await world.untilStatus(other, 'confirmed', { mining: true });
  const effects = world.chain.executed.map(({ transaction: { effect } }) => effect);
  t.equal(effects.length, Number(await world.store.read.knownSequence(LANE)), 'every nonce is used, and once');
  t.strictSame([...new Set(effects)], [VOID, 'of another']);
  t.match(await lifecycle.cancelPending('r1'), { total_processed: 0 }, 'nothing is left to cancel');
});

t.test('what could not be stored is named', async (t) => {
  const world = await EngineWorld.open(t);
  const ids: string[] = [];
  for (let index = 0; index < 101; index += 1) ids.push((await world.accept('pay')).id);
  let writes = 0;
  const store: Store = {
    ...world.store,
    write: (body) => {
      writes += 1;
      return writes === 1 ? Promise.reject(new Error('disk full')) : world.store.write(body);
    },
  };
  const woken: string[] = [];
  const lifecycle = lifecycleOver(world, { wake: (lane) => woken.push(lane), onChange: () => () => {} }, { store });
  t.strictSame(await lifecycle.cancelPending('r1'), {
    queued_for_cancellation_transaction_ids: ids.slice(100),
    failed_to_queue_transaction_ids: ids.slice(0, 100),
    total_processed: 101,
  });
  t.equal((await world.store.read.intents(LANE, 200)).length, 1);
  t.strictSame(woken, [LANE]);
  t.match(world.logLines.join(''), /cancellations could not be stored/);
});

t.test('a transaction is found by its nonce', async (t) => {
  const world = await EngineWorld.open(t);
  const { lifecycle } = world.services();
  const { id } = await world.accept('pay', { status: 'submitted', sequence: 2n ** 63n, hash: '0x1' });
  t.match(await lifecycle.bySequence('r1', 2n ** 63n), { id, nonce: 2n ** 63n });
  await t.rejects(lifecycle.bySequence('r1', 7n), {
    code: 'NONCE_NOT_FOUND',
    status: 404,
    message: 'Transaction with nonce 7 not found',
  });
  await t.rejects(lifecycle.bySequence('none', 7n), { code: 'RELAYER_NOT_FOUND' });
});

t.test('a transaction is found by the hash of any of its versions', async (t) => {
  const world = await EngineWorld.open(t);
  const { lifecycle } = world.services();
  const { id } = await world.accept('pay', { status: 'submitted', sequence: 1n, hash: '0xb2' });
  const transaction = present(await world.store.read.transaction('r1', id));
  for (const [index, hash] of ['0xa1', '0xb2'].entries()) {
    const attempt = attemptOf(transaction, { ordinal: index + 1, sequence: 1n, hash });
    await world.store.write((writer) => writer.insertAttempt(attempt));
  }
  for (const hash of ['0xa1', '0xb2', '0xA1']) t.match(await lifecycle.byHash('r1', hash), { id }, hash);
  await t.rejects(lifecycle.byHash('r1', '0xc3'), { code: 'TRANSACTION_NOT_FOUND', status: 404 });
  await t.rejects(lifecycle.byHash('none', '0xa1'), { code: 'RELAYER_NOT_FOUND' });
});

t.test('a family without nonces says so', async (t) => {
  const world = await EngineWorld.open(t);
  for (const sequence of [undefined, { ...world.family.sequence, isLookedUp: false }]) {
    Object.defineProperty(world.family, 'sequence', { value: sequence });
    await t.rejects(
      lifecycleOver(
        world,
        settledBy(world, () => null),
      ).bySequence('r1', 0n),
      {
        status: 501,
        message: 'Nonce lookup only supported for EVM networks',
      },
    );
  }
});

t.test('the timeline tells acceptance, versions, intents, decisions and the end', async (t) => {
  const { world, lifecycle } = await driven(t);
  const transaction = await world.accept('pay');
  await world.untilStatus(transaction, 'submitted');
  await lifecycle.cancel('r1', transaction.id);
  await untilOffered(world, VOID, transaction);
  await world.untilStatus(transaction, 'canceled', { mining: true });
  const { events, ...rest } = await lifecycle.timeline('r1', transaction.id);
  t.match(rest, { transaction_id: transaction.id, status: 'canceled', omitted: 0 });
  const told = (events as { event: string; purpose?: string; status?: string }[]).map(({ event, purpose, status }) =>
    [event, purpose ?? status].filter(Boolean).join(' '),
  );
  t.equal(told[0], 'accepted');
  t.equal(told.at(-1), 'ended canceled');
  for (const one of ['signed send', 'submitted', 'cancel_requested', 'signed noop', 'decided']) {
    t.ok(told.includes(one), `${one} in ${told.join(', ')}`);
  }
});
