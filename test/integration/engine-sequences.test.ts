/**
 * The account's transaction count differs from what was signed here: somebody else uses the key, a node reports a wrong
 * count, or a reorganisation lowers it. Accepted payments are still made once, and the account keeps working.
 */
import t, { type Test } from 'tap';
import type { Engine } from '../../src/engine/engine.ts';
import type { EngineTiming } from '../../src/engine/timing.ts';
import type { Transaction } from '../../src/features/transactions/records/transaction.ts';
import { ADDRESS, EngineWorld, fastTiming, LANE } from '../support/engine-world.ts';
import type { FakeChain } from '../support/fake-chain.ts';
import { VOID } from '../support/fake-chain-client.ts';

/** Answers requests for the account's count with `say`, or truthfully if `say` returns undefined. */
function tell(world: EngineWorld, say: () => bigint | undefined): { asked: number } {
  const truth = world.client.sequences.next.bind(world.client);
  const told = { asked: 0 };
  world.client.sequences.next = async (address) => {
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

/** The nonces of all bytes that reached a node. */
const offered = ({ chain }: EngineWorld): Set<number> =>
  new Set(chain.received.map((raw) => Number((JSON.parse(raw) as { nonce: string }).nonce)));

const effects = ({ chain }: EngineWorld): string[] => chain.executed.map(({ transaction }) => transaction.effect);

function useOutside({ chain }: EngineWorld, nonce: number): void {
  const foreign = { from: ADDRESS, nonce: String(nonce), effect: `foreign ${nonce}`, cost: '1', reverts: false };
  chain.submit(JSON.stringify({ ...foreign, price: '1' }));
}

/** A world in which somebody else has used this many nonces, in blocks. */
async function withUsedAccount(t: Test, count: number): Promise<EngineWorld> {
  const world = await EngineWorld.open(t);
  for (let nonce = 0; nonce < count; nonce += 1) useOutside(world, nonce);
  world.chain.mine();
  return world;
}

/** A world with a payment that was signed at a wrong count, far above the chain's count. */
async function withBeyond(t: Test, count: bigint, { isStrict = false } = {}) {
  const world = await EngineWorld.open(t);
  world.chain.strict = isStrict;
  let lie: bigint | undefined = count;
  tell(world, () => lie);
  const engine = await start(t, world);
  const beyond = await pay(world, engine, 'beyond');
  const isTurnedAway = async () => (await world.get(beyond)).statusReason === 'nonce too high';
  if (isStrict) await world.until('it is turned away', isTurnedAway);
  else await world.untilStatus(beyond, 'submitted');
  t.equal((await world.get(beyond)).sequence, count);
  lie = undefined;
  return { world, engine, beyond };
}

/** For each signature: how many requests for the count came before it. */
function askedAtSignature({ signer }: EngineWorld, told: { asked: number }): number[] {
  const asked: number[] = [];
  signer.failsAt = () => {
    asked.push(told.asked);
    return false;
  };
  return asked;
}

t.test('a count that is made up now and then is not signed', async (t) => {
  const world = await EngineWorld.open(t);
  let asked = 0;
  tell(world, () => {
    asked += 1;
    return asked % 2 === 1 ? 1_000_000n + BigInt(asked) : undefined;
  });
  const engine = await start(t, world);
  for (const effect of ['one', 'two', 'three']) {
    await world.untilStatus(await pay(world, engine, effect), 'confirmed', { mining: true });
  }
  t.strictSame([...offered(world)], [0, 1, 2]);
  t.strictSame(effects(world), ['one', 'two', 'three']);
});

t.test('the first payment of an account that others have used goes on from there', async (t) => {
  const world = await withUsedAccount(t, 100);
  const engine = await start(t, world);
  const told = tell(world, () => undefined);
  const asked = askedAtSignature(world, told);
  const transaction = await pay(world, engine, 'pay');
  await world.until('it is signed', async () => (await world.get(transaction)).sequence !== null);
  t.strictSame(asked, [2], 'heard twice');
  await world.untilStatus(transaction, 'confirmed', { mining: true });
  t.equal((await world.get(transaction)).sequence, 100n);
});

t.test('a used account is known once its first payment is in a block, also after a restart', async (t) => {
  const world = await withUsedAccount(t, 300);
  const before = await start(t, world);
  const first = await pay(world, before, 'first');
  await world.untilStatus(first, 'submitted');
  world.chain.mine();
  await world.untilStatus(first, 'mined');
  await before.close();
  const after = await start(t, world);
  const told = tell(world, () => undefined);
  const asked = askedAtSignature(world, told);
  const second = await pay(world, after, 'second');
  await world.until('it is signed', async () => (await world.get(second)).sequence !== null);
  t.equal((await world.get(second)).sequence, 301n);
  t.strictSame(asked, [1], 'nobody else used the key meanwhile');
});

t.test('a use of the key that a reorganisation took back is filled below what waits for it', async (t) => {
  const { world, engine, beyond } = await withBeyond(t, 3n);
  await world.untilStatus(beyond, 'confirmed', { mining: true });
  t.strictSame(effects(world), [VOID, VOID, VOID, 'beyond']);
  const next = await pay(world, engine, 'next');
  await world.untilStatus(next, 'confirmed', { mining: true });
  t.equal((await world.get(next)).sequence, 4n);
});

t.test('below what was signed far beyond its account payments go on, and no gap is paid for', async (t) => {
  const { world, engine, beyond } = await withBeyond(t, 1_000_000n);
  const newer = ['newer 0', 'newer 1', 'newer 2'];
  for (const effect of newer) {
    await world.untilStatus(await pay(world, engine, effect), 'confirmed', { mining: true });
  }
  t.strictSame(effects(world), newer);
  t.strictSame(
    [...offered(world)].toSorted((one, other) => one - other),
    [0, 1, 2, 1_000_000],
  );
  await world.until('it is taken back', async () => (await world.get(beyond)).noopEnd === 'failed');
  t.match(await world.get(beyond), {
    status: 'submitted',
    sequence: 1_000_000n,
    statusReason: /^Signed under nonce 1000000, which the account is far from reaching: .* Taken back by a noop/,
  });
  t.equal(await world.store.read.settledSequence(LANE), 3n);
});

t.test(
  'what is stranded and taken back is paid at most once: the account gets there, and its noop executes',
  async (t) => {
    const { world, engine, beyond } = await withBeyond(t, 80n);
    await world.untilStatus(await pay(world, engine, 'newer'), 'confirmed', { mining: true });
    await world.until('its noop is out', async () => (await world.get(beyond)).noopEnd === 'failed');
    for (let count = 1; count < 80; count += 1) await pay(world, engine, `pay ${count}`);
    await world.untilStatus(beyond, 'failed', { mining: true });
    const last = await pay(world, engine, 'last');
    await world.untilStatus(last, 'confirmed', { mining: true });
    const used = world.chain.executed.find(({ transaction: { nonce } }) => nonce === '80');
    t.equal(used?.transaction.effect, VOID, 'nobody else got its sequence');
    t.notOk(effects(world).includes('beyond'));
  },
);

t.test('what is taken back can be canceled, which ends it at once', async (t) => {
  const { world, engine, beyond } = await withBeyond(t, 1_000_000n);
  await world.untilStatus(await pay(world, engine, 'newer'), 'confirmed', { mining: true });
  await world.until('it is taken back', async () => (await world.get(beyond)).noopEnd === 'failed');
  await world.store.write((writer) =>
    writer.insertIntent({ transactionId: beyond.id, lane: LANE, action: { kind: 'cancel' } }),
  );
  engine.wake(LANE);
  await world.untilStatus(beyond, 'canceled', { mining: true });
});

for (const isStrict of [false, true]) {
  const node = isStrict ? 'a node that takes no gaps' : 'a node that keeps it for later';
  t.test(`what is canceled far beyond its account ends, and the account goes on: ${node}`, async (t) => {
    const { world, engine, beyond } = await withBeyond(t, 1_000_000n, { isStrict });
    await world.untilStatus(await pay(world, engine, 'before'), 'confirmed', { mining: true });
    await world.store.write((writer) =>
      writer.insertIntent({ transactionId: beyond.id, lane: LANE, action: { kind: 'cancel' } }),
    );
    engine.wake(LANE);
    await world.untilStatus(beyond, 'canceled', { mining: true });
    t.match(await world.get(beyond), { sequence: null, statusReason: /nonce 1000000, which the account is far from/ });
    await world.untilStatus(await pay(world, engine, 'after'), 'confirmed', { mining: true });
    t.strictSame(effects(world), ['before', 'after']);
    t.equal(await world.store.read.settledSequence(LANE), 2n);
  });
}

t.test('a node that is stuck in the past has nothing signed under a nonce that is used', async (t) => {
  const world = await EngineWorld.open(t);
  const engine = await start(t, world, { driftMs: 0 });
  for (const effect of ['one', 'two']) {
    await world.untilStatus(await pay(world, engine, effect), 'confirmed', { mining: true });
  }
  let isStuck = true;
  const told = tell(world, () => (isStuck ? 0n : undefined));
  const waiting = await pay(world, engine, 'three');
  await world.until('it was asked often', async () => told.asked > 5);
  t.match(await world.get(waiting), { status: 'pending', statusReason: /expects sequence 0 .* signed up to 1;/ });
  isStuck = false;
  await world.untilStatus(waiting, 'confirmed', { mining: true });
  t.strictSame(effects(world), ['one', 'two', 'three']);
});

t.test('a gap is filled also when no node has ever taken what waits above it', async (t) => {
  const world = await EngineWorld.open(t);
  world.chain.strict = true;
  useOutside(world, 0);
  const broadcast = world.client.broadcast.bind(world.client);
  let offers = 0;
  world.client.broadcast = async (attempts) => {
    offers += 1;
    // The node forgets the transactions that the sequence counted on.
    if (offers === 1) world.chain.forgetPool();
    return broadcast(attempts);
  };
  const engine = await start(t, world);
  const transaction = await pay(world, engine, 'pay');
  await world.until('it was offered', async () => offers > 1);
  await world.untilStatus(transaction, 'confirmed', { mining: true });
  t.strictSame(effects(world), [VOID, 'pay']);
});

/** Pools that hold few transactions of an account, or drop some silently. Each block makes room for more. */
const pools: Readonly<Record<string, (chain: FakeChain) => void>> = {
  'drops what is beyond 16 without a word': (chain) => {
    chain.dropsSilently = (held) => held >= 16;
  },
  'turns away what is beyond 16': (chain) => {
    chain.isFull = (held) => held >= 16;
  },
  'loses every third without a word': (chain) => {
    let offers = 0;
    chain.dropsSilently = () => {
      offers += 1;
      return offers % 3 === 0;
    };
  },
};

for (const [what, limit] of Object.entries(pools)) {
  t.test(`a pool that ${what}: what it has not is offered again when a block has made room`, async (t) => {
    const world = await EngineWorld.open(t);
    limit(world.chain);
    // No offer is repeated during the test, neither on schedule nor after a failure.
    const engine = world.engine({ timing: { reofferMs: 3_600_000, retryMs: 50_000, retryCapMs: 50_000 } });
    t.teardown(() => engine.close());
    await engine.start();
    const payments = [];
    for (let index = 0; index < 100; index += 1) payments.push(await world.accept(`pay ${index}`));
    engine.wake(LANE);
    for (const one of payments) await world.untilStatus(one, 'confirmed', { mining: true });
    t.equal(world.chain.executed.length, 100);
    const { height, received } = world.chain;
    t.ok(received.length <= 100 + height * fastTiming.batch, `${received.length} offers in ${height} blocks`);
  });
}
