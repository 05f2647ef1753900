/**
 * The stored nonce and the chain disagree: gaps, restarts, lagging nodes, other users of the key, a chain that
 * started anew. Each time they agree again without help, and no nonce is used twice.
 */

import t, { type Test } from 'tap';
import type { Json } from '../../../src/domain/json/json.ts';
import { WIDEST_GAP } from '../../../src/engine/sequencing/sequence-planner.ts';
import { startAnvil } from '../../support/anvil.ts';
import { EvmScenario, type EvmScenarioOptions } from '../../support/evm-scenario.ts';
import { type FrontRule, insteadOf, outage } from '../../support/node-front.ts';
import { attemptOf, transactionOf } from '../../support/store.ts';

const anvil = await startAnvil({ args: ['--no-mining', '--accounts', '30'] });
t.teardown(() => anvil.stop());
let accounts = 0;

/** A scenario on the node's next account. */
function open(t: Test, options: EvmScenarioOptions = {}): Promise<EvmScenario> {
  accounts += 1;
  return EvmScenario.open(t, anvil, { account: accounts, ...options });
}

/** Leaves a transaction open under the given nonce. No node knows it, and there is nothing below it. */
async function stuckAt(stage: EvmScenario, nonce: number): Promise<string> {
  await setNonce(stage, nonce);
  stage.front.rule(outage('eth_sendRawTransaction'));
  await stage.start();
  const id = await stage.send();
  await stage.untilStatus(id, 'sent');
  await stage.stop();
  await setNonce(stage, 0);
  stage.front.rule();
  return id;
}

function setNonce({ address }: EvmScenario, nonce: number): Promise<unknown> {
  return anvil.rpc('anvil_setNonce', [address, `0x${nonce.toString(16)}`]);
}

async function sequences(stage: EvmScenario, ids: readonly string[]): Promise<number[]> {
  return Promise.all(ids.map(async (id) => Number((await stage.get(id)).sequence ?? Number.NaN)));
}

t.test('a gap below a stuck transaction is filled, and the count goes on', async (t) => {
  const stage = await open(t);
  const stuck = await stuckAt(stage, 3);
  await stage.start();
  await stage.untilStatus(stuck, 'confirmed', { mining: true });
  const next = await stage.send();
  await stage.untilStatus(next, 'confirmed', { mining: true });
  t.strictSame(await sequences(stage, [stuck, next]), [3, 4]);
  t.equal(await stage.nonces(), 5, 'three that do nothing, and the two');
  t.equal(await stage.paid(), 14n);
});

t.test('restarts with a count that is too high: chain and records decide, without help', async (t) => {
  const stage = await open(t);
  const stuck = await stuckAt(stage, 2);
  for (const diesAt of ['found', 'priced', 'observed'] as const) {
    await stage.start({ diesAt });
    await stage.send();
    await stage.until(`it died when ${diesAt}`, () => stage.isDead);
  }
  await stage.start();
  await stage.untilStatus(stuck, 'confirmed', { mining: true });
  await stage.until('all four are paid', async () => (await stage.paid()) === 28n, { mining: true });
  t.ok((await stage.nonces()) <= 6, 'no more nonces are used than there are transactions and gaps');
});

t.test('an engine that dies before anything is stored leaves its nonce to the next one', async (t) => {
  for (const diesAt of ['priced', 'reserved', 'signed'] as const) {
    const stage = await open(t);
    await stage.start({ diesAt });
    const ids = await stage.sendMany(3);
    await stage.until('it is dead', () => stage.isDead);
    t.strictSame([(await stage.get(ids[0] ?? '')).sequence, stage.front.offers.length], [null, 0], diesAt);
    await stage.start();
    await stage.untilStatus(ids, 'confirmed', { mining: true });
    t.equal(await stage.nonces(), 3, 'no nonce was passed over');
  }
});

t.test('the count cannot be read, or is behind, while a burst is signed: no nonce is given twice', async (t) => {
  const stage = await open(t, { timing: { driftMs: 60_000 } });
  await stage.start();
  let asked = 0;
  stage.front.rule(async ({ method }, pass) => {
    if (method !== 'eth_getTransactionCount') return undefined;
    asked += 1;
    // A cycle of seven, so that it does not fall into step with the requests.
    if (asked % 7 < 2) return 'hang-up';
    const truth = await pass();
    if (asked % 7 < 5 || typeof truth !== 'object' || !('result' in truth)) return truth;
    return { result: `0x${Math.max(Number(truth.result) - 5, 0).toString(16)}` };
  });
  const ids = await stage.sendMany(40);
  await stage.untilStatus(ids, 'confirmed', { mining: true });
  const given = await sequences(stage, ids);
  t.equal(new Set(given).size, 40);
  t.strictSame([await stage.nonces(), await stage.paid()], [40, 280n]);
});

t.test('a nonce that somebody else used fails its transaction with the reason, and the followers go on', async (t) => {
  const stage = await open(t, { settings: { required_confirmations: 3 } });
  stage.front.rule(outage('eth_sendRawTransaction'));
  await stage.start();
  const ids = await stage.sendMany(2);
  const [first = '', second = ''] = ids;
  await stage.untilStatus(ids, 'sent');
  const stranger = await stage.useOutside(0);
  await stage.mine();
  stage.front.rule();
  await stage.untilStatus(second, 'submitted');
  t.equal((await stage.get(first)).status, 'sent', 'not before it is final');
  await stage.untilStatus(first, 'failed', { mining: true });
  const { statusReason } = await stage.get(first);
  t.match(statusReason, /^Nonce 0 consumed externally .* No matching transaction hash found on-chain\./);
  t.ok(statusReason?.includes(stranger), 'it names who used it');
  await stage.untilStatus(second, 'confirmed', { mining: true });
  const third = await stage.send();
  await stage.untilStatus(third, 'confirmed', { mining: true });
  t.strictSame(await sequences(stage, [second, third]), [1, 2]);
});

t.test('a count that goes on while the engine runs is followed without a restart', async (t) => {
  const stage = await open(t);
  await stage.start();
  for (const nonce of [0, 9, 10, 200]) {
    await setNonce(stage, nonce);
    const id = await stage.send();
    await stage.untilStatus(id, 'confirmed', { mining: true });
    t.strictSame(await sequences(stage, [id]), [nonce]);
  }
});

for (const how of ['while the engine runs', 'between two runs'] as const) {
  t.test(
    `on a chain that was started anew ${how} the count begins anew, and what was signed before ends`,
    async (t) => {
      const stage = await open(t);
      await stage.start();
      await stage.untilStatus(await stage.sendMany(3), 'confirmed', { mining: true });
      const old = await stage.send();
      await stage.untilStatus(old, 'submitted');
      if (how === 'between two runs') await stage.stop();
      const again = await startAnvil({ args: ['--accounts', '30'] });
      t.teardown(() => again.stop());
      stage.front.rule(insteadOf(again));
      if (how === 'between two runs') await stage.start();

      const id = await stage.send({ value: 8 });
      await stage.until('it is confirmed there', async () => {
        await again.rpc('anvil_mine', ['0x1']);
        return (await stage.get(id)).status === 'confirmed';
      });
      t.strictSame(await sequences(stage, [id]), [0]);
      t.match(await stage.get(old), { status: 'failed', statusReason: /^The chain was started anew: / });
      t.equal(await again.rpc('eth_getBalance', [stage.payee, 'latest']), '0x8');
    },
  );
}

t.test('what waits in the pool for the key of an account without history is counted', async (t) => {
  const stage = await open(t);
  for (const nonce of [0, 1]) await stage.useOutside(nonce);
  t.strictSame([await stage.nonces(), await stage.nonces('pending')], [0, 2]);
  await stage.start();
  const id = await stage.send();
  await stage.untilStatus(id, 'confirmed', { mining: true });
  t.strictSame(await sequences(stage, [id]), [2]);
});

t.test('a count from long ago makes no gap of what is confirmed', async (t) => {
  const stage = await open(t);
  await stage.start();
  await stage.untilStatus(await stage.sendMany(3), 'confirmed', { mining: true });
  const open2 = await stage.sendMany(2);
  await stage.untilStatus(open2, 'submitted');
  stage.front.rule(({ method }) => (method === 'eth_getTransactionCount' ? { result: '0x1' } : undefined));
  const [asked, since] = [stage.front.calls('eth_getTransactionCount'), performance.now()];
  await stage.until(
    'it was asked for longer than a doubt lasts',
    () => stage.front.calls('eth_getTransactionCount') > asked + 20 && performance.now() > since + 500,
  );
  const offered = stage.front.offers.map(({ nonce }) => nonce);
  t.strictSame([...new Set(offered)], [0, 1, 2, 3, 4], 'no filler went out');
  stage.front.rule();
  await stage.untilStatus(open2, 'confirmed', { mining: true });
  t.equal(await stage.nonces(), 5);
});

t.test(
  'an endpoint that is stuck in the past for long loses no payment: it waits, and goes out when it can',
  async (t) => {
    const stage = await open(t);
    await stage.start();
    await stage.untilStatus(await stage.sendMany(3), 'confirmed', { mining: true });
    const block = await stage.anvil.rpc('eth_getBlockByNumber', ['0x0', false]);
    stage.front.rule(({ method }) => {
      if (method === 'eth_getTransactionCount') return { result: '0x1' };
      if (method === 'eth_blockNumber') return { result: '0x0' };
      return method === 'eth_getBlockByNumber' ? { result: block as Json } : undefined;
    });
    const [asked, since] = [stage.front.calls('eth_getTransactionCount'), performance.now()];
    const id = await stage.send({ value: 9 });
    await stage.until(
      'it was asked for longer than a loss takes to be believed',
      () => stage.front.calls('eth_getTransactionCount') > asked + 10 && performance.now() > since + 1_500,
    );
    t.match(await stage.get(id), { status: 'pending', sequence: null, statusReason: /expects sequence 1 / });
    stage.front.rule();
    await stage.untilStatus(id, 'confirmed', { mining: true });
    t.strictSame([await sequences(stage, [id]), await stage.paid()], [[3], 30n]);
  },
);

t.test('an old record that is pruned takes nothing from a newer one of the same nonce', async (t) => {
  const stage = await open(t);
  const old = transactionOf({ relayerId: 'r1', lane: stage.lane });
  await stage.store.write(async (writer) => {
    await writer.insertTransaction(old);
    await writer.updateTransaction(old.id, 'pending', { status: 'sent', sequence: 0n, hash: '0x00' });
    await writer.insertAttempt(attemptOf(old));
    await writer.updateTransaction(old.id, 'sent', { status: 'failed', nextActionAt: null });
  });
  await stage.start();
  const id = await stage.send();
  await stage.untilStatus(id, 'submitted');
  t.strictSame(await sequences(stage, [id]), [0]);
  t.equal(await stage.store.write((writer) => writer.pruneTransactions(Date.now() + 60_000, 10)), 1);
  t.match(await stage.services.lifecycle.bySequence('r1', 0n), { id });
  const next = await stage.send();
  await stage.untilStatus([id, next], 'confirmed', { mining: true });
  t.strictSame(await sequences(stage, [next]), [1]);
});

t.test('wide drift is closed completely, down and up', async (t) => {
  const stage = await open(t);
  const stuck = await stuckAt(stage, WIDEST_GAP);
  await stage.start();
  await stage.untilStatus(stuck, 'confirmed', { mining: true });
  t.equal(await stage.nonces(), WIDEST_GAP + 1);
  t.equal(await stage.transactionCount(), WIDEST_GAP + 1, 'one filler for each gap');
  await setNonce(stage, 300_000);
  const id = await stage.send();
  await stage.untilStatus(id, 'confirmed', { mining: true });
  t.strictSame(await sequences(stage, [id]), [300_000]);
});

/** Adds 500 to every count of an account that the node reports, in blocks and in the pool. */
const tooHigh: FrontRule = async ({ method }, pass) => {
  if (method !== 'eth_getTransactionCount') return undefined;
  const truth = await pass();
  if (typeof truth !== 'object' || !('result' in truth)) return truth;
  return { result: `0x${(Number(truth.result) + 500).toString(16)}` };
};

for (const known of ['at the first contact', 'later'] as const) {
  t.test(
    `counts of the only endpoint that jump by 500 ${known}: payments wait, say why, and go out after it`,
    async (t) => {
      const stage = await open(t);
      await stage.start();
      const before = known === 'later' ? await stage.sendMany(5) : [];
      await stage.untilStatus(before, 'confirmed', { mining: true });
      stage.front.rule(tooHigh);
      const ids = await stage.sendMany(5, { value: 8 });
      await stage.until('each says so', async () => {
        const reasons = await Promise.all(ids.map(async (id) => (await stage.get(id)).statusReason ?? ''));
        return reasons.every((reason) => /^One endpoint alone reports nonce .* add a second endpoint/.test(reason));
      });
      const asked = stage.front.calls('eth_getTransactionCount');
      await stage.until('it was asked again', () => stage.front.calls('eth_getTransactionCount') > asked + 10);
      for (const id of ids) t.match(await stage.get(id), { status: 'pending', sequence: null });
      stage.front.rule();
      const after = await stage.sendMany(5, { value: 9 });
      await stage.untilStatus([...ids, ...after], 'confirmed', { mining: true });
      const total = before.length + 10;
      t.strictSame([await stage.nonces(), await stage.transactionCount()], [total, total]);
      t.equal(await stage.paid(), BigInt(7 * before.length + 40 + 45));
    },
  );
}

t.test(
  'other use of the key, often, is followed on an only endpoint that keeps no states: a block shows it',
  async (t) => {
    const stage = await open(t);
    await stage.start();
    await stage.untilStatus(await stage.send(), 'confirmed', { mining: true });
    for (let nonce = 1; nonce <= 70; nonce += 1) await stage.useOutside(nonce);
    await stage.mine();
    stage.front.rule(({ method }) =>
      method === 'eth_getProof'
        ? { error: { code: -32_601, message: 'the method eth_getProof does not exist' } }
        : undefined,
    );
    const id = await stage.send();
    await stage.untilStatus(id, 'confirmed', { mining: true });
    t.strictSame(await sequences(stage, [id]), [71]);
  },
);
