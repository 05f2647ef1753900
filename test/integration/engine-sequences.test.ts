/**
 * A node makes up how many transactions an account has sent. What was accepted is paid once all the same, nothing is
 * spent to get to the count that was made up, and the account goes on.
 */
import t, { type Test } from 'tap';
import type { Transaction } from '../../src/domain/transaction.ts';
import { isFinal } from '../../src/domain/transaction-state.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { EngineTiming } from '../../src/engine/timing.ts';
import { ADDRESS, EngineWorld, LANE } from '../support/engine-world.ts';
import { VOID } from '../support/fake-chain-client.ts';

/** Tells what the test says of the account's count, or the truth where it says nothing. */
function tell(world: EngineWorld, say: () => bigint | undefined): { asked: number } {
  const truth = world.client.nextSequence.bind(world.client);
  const told = { asked: 0 };
  world.client.nextSequence = async (address) => {
    told.asked += 1;
    return say() ?? (await truth(address));
  };
  return told;
}

async function start(t: Test, world: EngineWorld, timing: Partial<EngineTiming> = {}): Promise<Engine> {
  const engine = world.engine({ timing });
  t.teardown(() => engine.close());
  await engine.start();
  return engine;
}

async function pay(world: EngineWorld, engine: Engine, effect: string): Promise<Transaction> {
  const transaction = await world.accept(effect);
  engine.wake(LANE);
  return transaction;
}

/** The nonces of all bytes that ever reached a node. */
const offered = ({ chain }: EngineWorld): Set<number> =>
  new Set(chain.received.map((raw) => Number((JSON.parse(raw) as { nonce: string }).nonce)));

const effects = ({ chain }: EngineWorld): string[] => chain.executed.map(({ transaction }) => transaction.effect);

function useOutside({ chain }: EngineWorld, nonce: number): void {
  const foreign = { from: ADDRESS, nonce: String(nonce), effect: `foreign ${nonce}`, cost: '1', reverts: false };
  chain.submit(JSON.stringify({ ...foreign, price: '1' }));
}

/** Hundreds of empty transactions come before these end. */
function untilFilled(world: EngineWorld, transactions: readonly Transaction[]): Promise<void> {
  const haveEnded = async () => {
    const now = await Promise.all(transactions.map((one) => world.get(one)));
    return now.every(({ status }) => isFinal(status));
  };
  return world.until('all have ended', haveEnded, { mining: true, withinMs: 90_000 });
}

/** A world in which the first payments were signed at a count that was made up for long, and now the truth is told. */
async function withStranded(t: Test, count: bigint, payments = 1, timing: Partial<EngineTiming> = {}) {
  const world = await EngineWorld.open(t);
  let lie: bigint | undefined = count;
  tell(world, () => lie);
  const engine = await start(t, world, timing);
  const beyond: Transaction[] = [];
  for (let index = 0; index < payments; index += 1) beyond.push(await pay(world, engine, `beyond ${index}`));
  for (const one of beyond) await world.untilStatus(one, 'submitted');
  lie = undefined;
  return { world, engine, beyond };
}

t.test(
  'a count that is made up at first contact is not signed, and holds up nobody once the truth is told',
  async (t) => {
    const world = await EngineWorld.open(t);
    let lies = 12;
    tell(world, () => {
      lies -= 1;
      return lies > 0 ? 1_000_000n : undefined;
    });
    const engine = await start(t, world, { driftMs: 60_000 });
    const transaction = await pay(world, engine, 'pay');
    await world.untilStatus(transaction, 'confirmed', { mining: true });
    t.equal((await world.get(transaction)).sequence, 0n);
    t.strictSame([...offered(world)], [0]);
  },
);

t.test('a count that has been told since the start does not delay the first payment of a used account', async (t) => {
  const world = await EngineWorld.open(t);
  for (let nonce = 0; nonce < 100; nonce += 1) useOutside(world, nonce);
  world.chain.mine();
  const told = tell(world, () => undefined);
  const driftMs = 500;
  const engine = await start(t, world, { driftMs });
  const since = performance.now();
  await world.until('it was told for long', async () => performance.now() - since > driftMs);
  const before = told.asked;
  const transaction = await pay(world, engine, 'pay');
  await world.until('it is signed', async () => (await world.get(transaction)).sequence !== null);
  t.equal((await world.get(transaction)).sequence, 100n);
  t.equal(told.asked - before, 2, 'asked as often as after any use by others');
});

t.test('a used account is known once its first payment is in a block, also after a restart', async (t) => {
  const world = await EngineWorld.open(t);
  for (let nonce = 0; nonce < 300; nonce += 1) useOutside(world, nonce);
  world.chain.mine();
  const before = await start(t, world);
  const first = await pay(world, before, 'first');
  await world.untilStatus(first, 'submitted');
  world.chain.mine();
  await world.untilStatus(first, 'mined');
  await before.close();
  const after = await start(t, world, { driftMs: 3_600_000 });
  const second = await pay(world, after, 'second');
  await world.untilStatus(second, 'submitted');
  t.equal((await world.get(second)).sequence, 301n);
});

t.test(
  'what was signed far beyond the count waits, told as such; newer ones go on, and no gap is paid for',
  async (t) => {
    const { world, engine, beyond } = await withStranded(t, 1_000_000n);
    const [first] = beyond;
    if (first === undefined) throw new Error('nothing was signed');
    const newer = [await pay(world, engine, 'newer 0'), await pay(world, engine, 'newer 1')];
    for (const one of newer) await world.untilStatus(one, 'confirmed', { mining: true });
    t.strictSame(offered(world), new Set([1_000_000, 0, 1]));
    t.strictSame(effects(world).sort(), ['newer 0', 'newer 1']);
    const later = await pay(world, engine, 'later');
    await world.untilStatus(later, 'confirmed', { mining: true });
    t.equal((await world.get(later)).sequence, 2n);

    const { status, statusReason } = await world.get(first);
    t.match({ status, statusReason }, { status: 'submitted', statusReason: /^Signed under sequence 1000000, / });
    t.match(await world.store.read.decisions(first.id, 100), [{ kind: 'parked', text: statusReason }]);
    t.match(engine.parked(), [{ relayerId: 'r1', cause: 'sequence' }]);
    t.match(world.logLines.join(''), /signed beyond reach/);
  },
);

t.test('once the account gets near, the rest is filled, and what was signed beyond is paid once', async (t) => {
  const { world, engine, beyond } = await withStranded(t, 262n, 2);
  const newer: Transaction[] = [];
  for (let index = 0; index < 6; index += 1) newer.push(await pay(world, engine, `newer ${index}`));
  await untilFilled(world, [...newer, ...beyond]);
  const paid = effects(world).filter((effect) => effect !== VOID);
  t.strictSame(paid.sort(), ['beyond 0', 'beyond 1', ...newer.map((_, index) => `newer ${index}`)]);
  t.equal(effects(world).length, 264, 'each nonce was used once');
  t.strictSame(engine.parked(), []);
});

t.test('fillers bring the account no nearer: never more are made for what was signed beyond than may be', async (t) => {
  const world = await EngineWorld.open(t);
  let lie: bigint | undefined = 60n;
  tell(world, () => lie);
  // Each is believed after a while, so that the gaps are narrow each and together more than may be filled.
  const engine = await start(t, world, { driftMs: 10 });
  const beyond: Transaction[] = [];
  for (let index = 0; index < 8; index += 1) {
    const one = await pay(world, engine, `beyond ${index}`);
    await world.untilStatus(one, 'submitted');
    beyond.push(one);
    lie = ((await world.get(one)).sequence ?? 0n) + 61n;
  }
  lie = undefined;
  const [near, far] = [beyond.slice(0, 4), beyond.slice(4)];
  await untilFilled(world, near);
  const newer = await pay(world, engine, 'newer');
  await world.untilStatus(newer, 'confirmed', { mining: true });
  t.equal((await world.get(newer)).sequence, 244n, 'a sequence that was made up for others');
  const fillers = () => effects(world).filter((effect) => effect === VOID).length;
  t.equal(fillers(), 240);
  for (const one of far) t.equal((await world.get(one)).status, 'submitted');
  t.equal(engine.parked().length, far.length);
});

t.test('as many beyond as may be under way at once hold up nobody, nor does what they could cost', async (t) => {
  const { world, engine } = await withStranded(t, 5_000n, 4, { inFlight: 4 });
  world.chain.balance = 3n;
  const newer = await pay(world, engine, 'newer');
  await world.untilStatus(newer, 'confirmed', { mining: true });
  t.strictSame(effects(world), ['newer']);
});

t.test(
  'what is canceled far beyond ends, and the account goes on as if it had never been, also after a restart',
  async (t) => {
    const { world, engine, beyond } = await withStranded(t, 1_000_000n);
    const [first] = beyond;
    if (first === undefined) throw new Error('nothing was signed');
    const newer = await pay(world, engine, 'newer');
    await world.untilStatus(newer, 'confirmed', { mining: true });
    await world.store.write((writer) =>
      writer.insertIntent({ transactionId: first.id, lane: LANE, wish: { kind: 'cancel' } }),
    );
    await world.untilStatus(first, 'canceled');
    t.match(await world.get(first), { statusReason: /signed under sequence 1000000, which the account is far from/ });
    const next = await pay(world, engine, 'next');
    await world.untilStatus(next, 'confirmed', { mining: true });
    await engine.close();
    const after = await start(t, world, { lossMs: 3_600_000 });
    const last = await pay(world, after, 'last');
    await world.untilStatus(last, 'confirmed', { mining: true });
    t.equal((await world.get(last)).sequence, 2n);
    t.strictSame(effects(world), ['newer', 'next', 'last']);
  },
);

t.test('what is canceled beyond has no effect when the account gets there', async (t) => {
  const { world, engine, beyond } = await withStranded(t, 258n);
  const [first] = beyond;
  if (first === undefined) throw new Error('nothing was signed');
  await world.store.write((writer) =>
    writer.insertIntent({ transactionId: first.id, lane: LANE, wish: { kind: 'cancel' } }),
  );
  const newer = [await pay(world, engine, 'newer 0'), await pay(world, engine, 'newer 1')];
  for (const one of newer) await world.untilStatus(one, 'confirmed', { mining: true });
  await untilFilled(world, beyond);
  t.equal((await world.get(first)).status, 'canceled');
  t.strictSame(
    effects(world)
      .filter((effect) => effect !== VOID)
      .sort(),
    ['newer 0', 'newer 1'],
  );
});

t.test('what is canceled beyond has no effect either when others bring the account there in one go', async (t) => {
  const { world, engine, beyond } = await withStranded(t, 400n);
  const [first] = beyond;
  if (first === undefined) throw new Error('nothing was signed');
  await world.untilStatus(await pay(world, engine, 'newer'), 'confirmed', { mining: true });
  await world.store.write((writer) =>
    writer.insertIntent({ transactionId: first.id, lane: LANE, wish: { kind: 'cancel' } }),
  );
  engine.wake(LANE);
  const hasVoid = async () => world.chain.received.some((raw) => raw.includes(VOID));
  await world.until('its empty version is with the node', hasVoid);
  for (let nonce = 1; nonce < 400; nonce += 1) useOutside(world, nonce);
  await world.untilStatus(first, 'canceled', { mining: true });
  t.notOk(effects(world).includes('beyond 0'));
});

t.test('after a chain has lost its past, what is paid waits for one proof of it', async (t) => {
  const world = await EngineWorld.open(t);
  const engine = await start(t, world);
  const before: Transaction[] = [];
  for (let index = 0; index < 10; index += 1) before.push(await pay(world, engine, `before ${index}`));
  await untilFilled(world, before);
  world.chain.restart();
  const hasLost = world.client.hasLost.bind(world.client);
  let proofs = 0;
  world.client.hasLost = async (...question) => {
    proofs += 1;
    return hasLost(...question);
  };
  for (let index = 0; index < 10; index += 1) {
    await world.untilStatus(await pay(world, engine, `after ${index}`), 'submitted');
  }
  t.equal(proofs, 1);
  await world.until('all are paid', async () => effects(world).length === 10, { mining: true });
});

t.test('a gap is filled also when no node has ever taken what waits above it', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.strict = true;
  useOutside(world, 0);
  const broadcast = world.client.broadcast.bind(world.client);
  let offers = 0;
  world.client.broadcast = async (attempts) => {
    offers += 1;
    // The node forgets what the sequence was counted from.
    if (offers === 1) world.chain.forgetPool();
    return broadcast(attempts);
  };
  const engine = await start(t, world);
  const transaction = await pay(world, engine, 'pay');
  await world.until('it was offered', async () => offers > 1);
  await world.untilStatus(transaction, 'confirmed', { mining: true });
  t.strictSame(effects(world), [VOID, 'pay']);
});
