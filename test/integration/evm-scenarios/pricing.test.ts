/**
 * The network asks for a higher price than offered, or than allowed, or has less room. Waiting transactions resume.
 * Transactions that cannot be mined release their nonce.
 */
import t, { type Test } from 'tap';
import { startAnvil } from '../../support/anvil.ts';
import { OPERATOR } from '../../support/caller.ts';
import { EvmScenario, type EvmScenarioOptions } from '../../support/evm-scenario.ts';
import { outage } from '../../support/node-front.ts';

const GWEI = 10n ** 9n;
const MINUTE = 60_000;
const CAPPED = { policies: { gas_price_cap: Number(3n * GWEI) } };

/** A scenario on its own node, because prices apply to the whole node. */
async function open(t: Test, options: EvmScenarioOptions = {}): Promise<EvmScenario> {
  const anvil = await startAnvil({ args: ['--no-mining'] });
  t.teardown(() => anvil.stop());
  const stage = await EvmScenario.open(t, anvil, options);
  await stage.start();
  return stage;
}

/** Sets the base fee of the next block. The pool drops transactions that offer less. */
async function setBaseFee(stage: EvmScenario, gwei: bigint): Promise<void> {
  await stage.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${(gwei * GWEI).toString(16)}`]);
  await stage.mine();
}

async function onNode(
  stage: EvmScenario,
  id: string,
): Promise<Record<'maxFeePerGas' | 'maxPriorityFeePerGas', bigint>> {
  const { hash } = await stage.get(id);
  const seen = (await stage.anvil.rpc('eth_getTransactionByHash', [hash])) as Record<string, string>;
  return {
    maxFeePerGas: BigInt(seen['maxFeePerGas'] ?? 0),
    maxPriorityFeePerGas: BigInt(seen['maxPriorityFeePerGas'] ?? 0),
  };
}

t.test('what was offered at the cap and dropped by the pool waits, and resumes when the market falls', async (t) => {
  const stage = await open(t, CAPPED);
  const evicted = await stage.send();
  await stage.untilStatus(evicted, 'submitted');
  const [first] = await stage.attempts(evicted);
  await setBaseFee(stage, 50n);
  t.equal(await stage.nonces('pending'), 0, 'the pool has dropped it');
  const later = await stage.sendMany(2);
  const isParked = async (id: string) => /gas_price_cap/.test((await stage.get(id)).statusReason ?? '');
  for (const id of [evicted, ...later])
    await stage.until('it waits for the market', () => isParked(id), { passing: 100 });
  t.strictSame(await Promise.all(later.map(async (id) => (await stage.get(id)).sequence)), [null, null]);
  t.equal((await stage.attempts(evicted)).length, 1, 'nothing dearer was signed');

  await setBaseFee(stage, 1n);
  await stage.untilStatus([evicted, ...later], 'confirmed', { mining: true, passing: 500 });
  t.equal((await stage.get(evicted)).hash, first?.hash, 'the same bytes');
  for (const id of [evicted, ...later]) t.ok((await onNode(stage, id)).maxFeePerGas <= 3n * GWEI);
  t.equal(await stage.paid(), 21n);
});

t.test(
  'policies are those of the moment in which it is signed: what they forbid by then fails without a nonce',
  async (t) => {
    const stage = await open(t, CAPPED);
    const onOffer = await stage.send();
    await stage.untilStatus(onOffer, 'submitted');
    await setBaseFee(stage, 50n);
    const isWaiting = async (id: string) => (await stage.get(id)).statusReason !== null;
    await stage.until('the pool has dropped it', () => isWaiting(onOffer));
    const [forbidden, allowed] = [await stage.send(), await stage.send({ to: stage.address })];
    for (const id of [forbidden, allowed]) await stage.until('it waits for the market', () => isWaiting(id));
    t.equal((await stage.get(forbidden)).sequence, null);

    await stage.services.relayers.update('r1', { policies: { whitelist_receivers: [] } }, OPERATOR);
    await setBaseFee(stage, 1n);
    stage.pass(MINUTE / 6);
    await stage.untilStatus(forbidden, 'failed');
    t.match(await stage.get(forbidden), {
      sequence: null,
      hash: null,
      statusReason: 'Policy whitelist_receivers: Transaction target address is not whitelisted',
    });
    await stage.untilStatus([onOffer, allowed], 'confirmed', { mining: true });
    t.equal(await stage.paid(), 7n, 'what was on offer already went on');
    t.equal(await stage.nonces(), 2);
  },
);

t.test('what is canceled while the market is above the cap goes beyond it by the minimum bump only', async (t) => {
  const stage = await open(t, CAPPED);
  const [canceled, waiting] = [await stage.send(), await stage.send()];
  await stage.untilStatus([canceled, waiting], 'submitted');
  await setBaseFee(stage, 50n);
  await stage.cancel(canceled);
  await stage.until('the noop is signed', async () => (await stage.attempts(canceled)).length === 2);
  t.equal((await stage.attempts(canceled))[1]?.fields['max_fee_per_gas'], Number((33n * GWEI) / 10n));
  await setBaseFee(stage, 1n);
  await stage.untilStatus(canceled, 'canceled', { mining: true });
  await stage.untilStatus(waiting, 'confirmed', { mining: true });
  t.strictSame([await stage.nonces(), await stage.paid()], [2, 7n]);
});

t.test('where there is no pool a rising base fee is followed', async (t) => {
  const stage = await open(t, { settings: { tags: ['no-mempool'] } });
  stage.front.rule(outage('eth_sendRawTransaction'));
  const id = await stage.send();
  await stage.untilStatus(id, 'sent');
  await setBaseFee(stage, 400n);
  stage.front.rule();
  stage.pass(MINUTE);
  await stage.untilStatus(id, 'confirmed', { mining: true });
  const attempts = await stage.attempts(id);
  t.ok(attempts.length >= 2);
  t.ok(Number(attempts[0]?.fields['max_fee_per_gas']) < Number(350n * GWEI), 'the first was too cheap');
  t.equal(await stage.paid(), 7n);
});

t.test('where there is no pool a replacement is asked for no higher price', async (t) => {
  const stage = await open(t, { settings: { tags: ['no-mempool'] } });
  stage.front.rule(outage('eth_sendRawTransaction'));
  const price = { speed: undefined, gas_price: Number(20n * GWEI) };
  const id = await stage.send(price);
  await stage.untilStatus(id, 'sent');
  const body = { to: stage.payee, value: 8, data: '0x', gas_limit: 21_000, ...price };
  await stage.services.lifecycle.replace('r1', id, body);
  stage.front.rule();
  await stage.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await stage.paid(), 8n);
});

t.test('lowered to the cap, the tip is never more than the whole, in no version', async (t) => {
  const stage = await open(t, CAPPED);
  const id = await stage.send({
    speed: undefined,
    max_fee_per_gas: Number(9n * GWEI),
    max_priority_fee_per_gas: Number(5n * GWEI),
  });
  await stage.untilStatus(id, 'submitted');
  const signed = await onNode(stage, id);
  t.strictSame(signed, { maxFeePerGas: 3n * GWEI, maxPriorityFeePerGas: 3n * GWEI });
  await stage.cancel(id);
  await stage.until('the noop is in the pool', async () => {
    const { hash } = (await stage.attempts(id))[1] ?? {};
    return hash !== undefined && (await stage.anvil.rpc('eth_getTransactionByHash', [hash])) !== null;
  });
  for (const { fields } of await stage.attempts(id)) {
    t.ok(Number(fields['max_priority_fee_per_gas']) <= Number(fields['max_fee_per_gas']));
  }
  await stage.untilStatus(id, 'canceled', { mining: true });
});

t.test('a balance that bears the value and not the gas: it waits without a nonce, until it is funded', async (t) => {
  // The engine must not release the lane while the clock skips minutes.
  const stage = await open(t, { timing: { idleMs: 60 * MINUTE } });
  await stage.anvil.rpc('anvil_setBalance', [stage.address, '0x3e9']);
  const [paid, late] = await Promise.all([
    stage.send({ value: 1_000 }),
    stage.send({ value: 2_000, valid_until: new Date(Date.now() + 5 * MINUTE).toISOString() }),
  ]);
  const waits = /^Insufficient balance: Relayer balance 1001 is insufficient to cover \d+ \(checked again at 20/;
  for (const id of [paid, late]) {
    await stage.until('it says what it waits for', async () => waits.test((await stage.get(id)).statusReason ?? ''));
    t.match(await stage.get(id), { status: 'pending', sequence: null });
  }
  stage.pass(6 * MINUTE);
  await stage.untilStatus(late, 'expired');
  t.match(await stage.get(late), { sequence: null, statusReason: /^valid_until passed before it was signed/ });
  t.equal(stage.front.offers.length, 0);

  await stage.anvil.rpc('anvil_setBalance', [stage.address, '0xde0b6b3a7640000']);
  await stage.untilStatus(paid, 'confirmed', { mining: true, passing: 500 });
  t.strictSame([await stage.paid(), await stage.nonces()], [1_000n, 1]);
});

t.test(
  'a block gas limit that is lowered: refused before a nonce is used, else its nonce is taken by nothing',
  async (t) => {
    const stage = await open(t);
    const setLimit = async (limit: number) => {
      await stage.anvil.rpc('evm_setBlockGasLimit', [`0x${limit.toString(16)}`]);
      await stage.mine();
    };
    const [signed, behind] = await Promise.all([stage.send({ gas_limit: 300_000 }), stage.send()]);
    await stage.untilStatus([signed, behind], 'submitted');
    await stage.anvil.rpc('anvil_dropTransaction', [(await stage.get(signed)).hash]);
    await setLimit(100_000);
    const late = await stage.send({ gas_limit: 300_000 });
    await stage.untilStatus(late, 'failed');
    t.match(await stage.get(late), {
      sequence: null,
      statusReason: 'Transaction gas limit (300000) exceeds block gas limit (100000)',
    });
    stage.pass(4 * MINUTE);
    await stage.untilStatus(signed, 'failed', { mining: true });
    await stage.untilStatus(behind, 'confirmed', { mining: true });
    t.match((await stage.attempts(signed)).at(-1), { purpose: 'noop' });
    t.strictSame([await stage.nonces(), await stage.paid()], [2, 7n]);
  },
);
