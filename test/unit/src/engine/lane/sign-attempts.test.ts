import t, { type Test } from 'tap';
import { AppError } from '../../../../../src/domain/errors.ts';
import { broadcastDueTransactions } from '../../../../../src/engine/lane/broadcast.ts';
import type { SigningOutcome } from '../../../../../src/engine/lane/decide.ts';
import type { LaneStep } from '../../../../../src/engine/lane/lane-step.ts';
import { signAttempts } from '../../../../../src/engine/lane/sign-attempts.ts';
import { signPending } from '../../../../../src/engine/lane/sign-pending.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import { EngineWorld, present, relayerNamed } from '../../../../support/engine-world.ts';

/** This many transactions, signed and offered. */
async function scene(t: Test, count: number) {
  const world = await EngineWorld.open(t);
  const pending: Transaction[] = [];
  for (let index = 0; index < count; index += 1) pending.push(await world.accept(`pay ${index}`));
  const step = await world.step();
  await signPending(step, pending);
  await broadcastDueTransactions(step);
  const bumpAll = () =>
    signAttempts(
      step,
      pending.map(({ id }) => {
        const { transaction, attempts: earlier } = present(step.open.entries.get(id));
        return { transaction, earlier, spec: { purpose: 'bump' }, kind: 'bumped' };
      }),
    );
  return { world, step, pending, bumpAll };
}

const kinds = (outcomes: readonly SigningOutcome[]) => outcomes.map(({ kind }) => kind);

/** Makes the ledger refuse every record that contains this transaction. */
function refuse(step: LaneStep, { id }: Transaction, error: Error): { tries: number } {
  const { ledger } = step;
  const record = ledger.record.bind(ledger);
  const seen = { tries: 0 };
  ledger.record = async (versions) => {
    seen.tries += 1;
    if (versions.some(({ transaction }) => transaction.id === id)) throw error;
    return record(versions);
  };
  return seen;
}

t.test('all are priced at once and stored in one commit', async (t) => {
  const { world, step, pending, bumpAll } = await scene(t, 6);
  const { prepare } = world.client.replacement;
  let [asking, most] = [0, 0];
  world.client.replacement.prepare = async (...question) => {
    asking += 1;
    most = Math.max(most, asking);
    const answer = await prepare(...question);
    asking -= 1;
    return answer;
  };
  const record = t.capture(step.ledger, 'record', step.ledger.record.bind(step.ledger));
  t.strictSame(new Set(kinds(await bumpAll())), new Set(['signed']));
  t.equal(most, pending.length);
  t.equal(record().length, 1);
  for (const { id } of pending) t.equal((await world.store.read.attempts(id)).length, 2);
});

t.test('the balance is not promised twice: those that it does not bear together wait', async (t) => {
  const { world, bumpAll } = await scene(t, 3);
  const committed: bigint[] = [];
  world.client.replacement.prepare = async ({ transaction }, _, lane) => {
    committed.push(lane.committed);
    const isPaid = lane.committed <= 8n;
    if (!isPaid) return { kind: 'parked', reason: 'Insufficient balance', cause: 'balance' };
    return { kind: 'ready', request: transaction.request, fields: { price: '2' }, cost: 4n };
  };
  // Each one has 1 committed already. Its dearer version needs 3 more.
  t.strictSame(kinds(await bumpAll()), ['signed', 'signed', 'parked']);
  t.strictSame(committed, [3n, 3n, 3n, 9n, 3n, 6n, 9n], 'the last again, then one after the other');
});

t.test('what the store refuses holds up none but itself', async (t) => {
  const { world, step, pending, bumpAll } = await scene(t, 3);
  const [first, second] = pending;
  refuse(step, present(first), new Error('no room for it'));
  t.strictSame(kinds(await bumpAll()), ['failed', 'later', 'later']);
  refuse(step, present(second), new Error('no room for it'));
  for (const { id } of pending) t.equal((await world.store.read.attempts(id)).length, 1);
});

t.test('when nobody knows whether it was stored, nothing is tried before the store is read', async (t) => {
  const { step, pending, bumpAll } = await scene(t, 3);
  const seen = refuse(step, present(pending[0]), new AppError('UNAVAILABLE', { reason: 'no answer' }));
  t.strictSame(kinds(await bumpAll()), ['failed', 'failed', 'failed']);
  t.equal(seen.tries, 1);
});

t.test('one that the signer does not sign, or the network does not price, keeps its versions', async (t) => {
  const { world, pending, bumpAll } = await scene(t, 3);
  const { prepare } = world.client.replacement;
  world.client.replacement.prepare = async (entry, ...question) => {
    if (entry.transaction.id === pending[0]?.id) throw new Error('no node');
    return prepare(entry, ...question);
  };
  const before = world.signer.signatures;
  world.signer.failsAt = (signature) => signature === before + 1;
  t.match(await bumpAll(), [
    { kind: 'failed', reason: 'no node' },
    { kind: 'failed', reason: 'the vault is sealed' },
    { kind: 'signed' },
  ]);
});

t.test('one that has moved on meanwhile keeps its versions, and the picture is read anew', async (t) => {
  const { world, pending, bumpAll } = await scene(t, 2);
  const [moved] = pending;
  await world.store.write((writer) => writer.updateTransaction(present(moved).id, 'submitted', { status: 'mined' }));
  t.strictSame(kinds(await bumpAll()), ['later', 'later']);
  t.equal(world.distrusted, 1);
  for (const { id } of pending) t.equal((await world.store.read.attempts(id)).length, 1);
});

t.test('nothing wanted asks nobody anything', async (t) => {
  const { step } = await scene(t, 1);
  const ledger = Object.create(step.ledger, { raise: { value: () => t.fail('asked') } }) as LaneStep['ledger'];
  const reached = t.capture(step.life, 'onCheckpoint');
  t.strictSame(await signAttempts({ ...step, ledger }, []), []);
  t.strictSame(reached(), []);
});

t.test('a dearer version that was priced under other policies than those of the moment is priced anew', async (t) => {
  const { world, pending, bumpAll } = await scene(t, 2);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { policies: { gas_price_cap: 5 } })));
  const before = world.signer.signatures;
  t.strictSame(kinds(await bumpAll()), ['later', 'later']);
  t.equal(world.signer.signatures, before);
  for (const { id } of pending) t.equal((await world.store.read.attempts(id)).length, 1);
});

t.test('what has no anchor yet gets none from a further attempt', async (t) => {
  const { world, step, pending } = await scene(t, 1);
  const { transaction } = present(step.open.entries.get(present(pending[0]).id));
  const wanted = { transaction, earlier: [], spec: { purpose: 'bump' }, kind: 'bumped' } as const;
  t.match(await signAttempts(step, [wanted]), [{ kind: 'failed', reason: 'there is no anchor for it' }]);
  t.equal((await world.store.read.attempts(transaction.id)).length, 1);
});

/** Payments that are not signed yet. Notes the order in which a node is asked, and answers prices when it is told to. */
async function unsigned(
  t: Test,
  { count = 1, prices = Promise.resolve() }: { count?: number; prices?: Promise<void> },
) {
  const world = await EngineWorld.open(t);
  const pending: Transaction[] = [];
  for (let index = 0; index < count; index += 1) pending.push(await world.accept(`pay ${index}`));
  const asked: string[] = [];
  const { next } = world.client.sequences;
  world.client.sequences.next = async (...question) => {
    asked.push('sequence');
    return next(...question);
  };
  const prepare = world.client.prepare.bind(world.client);
  world.client.prepare = async (...question) => {
    asked.push('price');
    await prices;
    return prepare(...question);
  };
  return { world, pending, asked };
}

t.test('the sequence is asked for together with the prices', async (t) => {
  const prices = Promise.withResolvers<void>();
  const { world, pending, asked } = await unsigned(t, { prices: prices.promise });
  const signed = signPending(await world.step(), pending);
  await world.until('both are asked', async () => asked.length === 2);
  t.strictSame(asked.toSorted(), ['price', 'sequence']);
  prices.resolve();
  await signed;
  t.equal(asked.length, 2);
  t.equal((await world.get(present(pending[0]))).sequence, 0n);
});

t.test('a sequence that was told long before the prices is asked for anew', async (t) => {
  const prices = Promise.withResolvers<void>();
  const { world, pending, asked } = await unsigned(t, { prices: prices.promise });
  let elapsed = 0;
  const step = await world.step();
  const clock = { ...step.clock, elapsed: () => elapsed };
  const signed = signPending({ ...step, clock }, pending);
  await world.until('both are asked', async () => asked.length === 2);
  elapsed = 2_000;
  prices.resolve();
  await signed;
  t.strictSame(asked.slice(2), ['sequence']);
});

t.test('what is parked again and again asks for no sequence', async (t) => {
  const { world, pending, asked } = await unsigned(t, {});
  world.client.onPrepare = () => ({ kind: 'parked', reason: 'gas price above the cap', retryInMs: 0 });
  const step = await world.step();
  await signPending(step, pending);
  t.strictSame(asked.toSorted(), ['price', 'sequence'], 'the first time it may be signed');
  await signPending(step, await Promise.all(pending.map((one) => world.get(one))));
  t.strictSame(asked.slice(2), ['price']);
  world.client.onPrepare = () => undefined;
  await signPending(step, await Promise.all(pending.map((one) => world.get(one))));
  t.strictSame(asked.slice(3), ['price', 'sequence']);
  t.equal((await world.get(present(pending[0]))).sequence, 0n);
});

t.test('a relayer that is not there costs those of another relayer of the account nothing', async (t) => {
  const { world, asked } = await unsigned(t, { count: 0 });
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r2')));
  const mine = await world.accept('mine');
  const others = await world.accept('others', { relayerId: 'r2' });
  const step = await world.step();
  const of = step.senders.of.bind(step.senders);
  step.senders.of = async (id) => (id === 'r2' ? Promise.reject(new Error('no such relayer')) : of(id));
  await signPending(step, [others, mine]);
  t.equal((await world.get(mine)).sequence, 0n);
  t.match(await world.get(others), { sequence: null, statusReason: /no such relayer/ });
  t.strictSame(asked, ['price', 'sequence']);
});
