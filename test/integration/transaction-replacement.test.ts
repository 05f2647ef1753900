/** Replacing on a real node: what is paid, at which price, and which version the API shows in the end. */
import t from 'tap';
import { lifecycleStages, OTHER, RECEIVER, TRANSFER } from '../support/lifecycle-stage.ts';
import type { AnswerBody } from '../support/service.ts';

const GWEI = 10n ** 9n;
/** A contract that writes a storage slot, which takes more gas than a transfer. */
const WRITER = '0x00000000000000000000000000000000000ab1e5';
const WRITES = '0x600160005500';
const PRICED = {
  to: RECEIVER,
  value: 7,
  gas_limit: 21_000,
  max_fee_per_gas: Number(10n * GWEI),
  max_priority_fee_per_gas: Number(2n * GWEI),
};

function feesOf({ max_fee_per_gas: fee, max_priority_fee_per_gas: tip }: AnswerBody): [bigint, bigint] {
  return [BigInt(fee), BigInt(tip)];
}

const nextStage = await lifecycleStages(t, 7);

t.test('the prices of a replacement are paid as they are given, or refused', async (t) => {
  const stage = await nextStage();
  const id = await stage.send(PRICED);
  const before = await stage.untilPooled(id);
  const tooLow = await stage.ask('PUT', `${stage.transactions}/${id}`, {
    ...PRICED,
    value: 9,
    max_fee_per_gas: Number(109n * (GWEI / 10n)),
  });
  t.strictSame([tooLow.status, tooLow.body.error], [400, 'Gas price increase does not meet minimum bump requirement']);
  t.strictSame(await stage.get(id), before, 'a refusal changes nothing');

  const fees = { max_fee_per_gas: Number(11n * GWEI), max_priority_fee_per_gas: Number((22n * GWEI) / 10n) };
  const answer = await stage.ask('PUT', `${stage.transactions}/${id}`, { ...PRICED, ...fees, value: 9 });
  t.equal(answer.status, 200);
  t.match(answer.body.data, { id, nonce: before.nonce, value: '0x9', speed: null });
  const pooled = await stage.untilPooled(id, ({ value }) => value === '0x9');
  t.strictSame(feesOf(pooled), [11n * GWEI, (22n * GWEI) / 10n], 'and not raised once more');
  const onNode = (await stage.anvil.rpc('eth_getTransactionByHash', [pooled.hash])) as Record<string, string>;
  t.equal(BigInt(onNode['maxFeePerGas'] ?? 0), 11n * GWEI);
  await stage.mineUntil(id, 'confirmed');
  t.equal(await stage.balance(RECEIVER), 9n);
});

t.test('a replacement by speed raises the price once', async (t) => {
  const stage = await nextStage();
  const id = await stage.send(PRICED);
  await stage.untilPooled(id);
  await stage.ask('PUT', `${stage.transactions}/${id}`, { ...TRANSFER, value: 9 });
  const [fee, tip] = feesOf(await stage.untilPooled(id, ({ value }) => value === '0x9'));
  t.ok(fee >= 11n * GWEI && fee < 12n * GWEI, String(fee));
  t.ok(tip >= (22n * GWEI) / 10n && tip < (24n * GWEI) / 10n, String(tip));
  await stage.mineUntil(id, 'confirmed');
});

t.test('the gas of a replacement that names none is estimated', async (t) => {
  const stage = await nextStage();
  await stage.anvil.rpc('anvil_setCode', [WRITER, WRITES]);
  const id = await stage.send();
  await stage.untilPooled(id);
  await stage.ask('PUT', `${stage.transactions}/${id}`, { to: WRITER, value: 0, data: '0x', speed: 'fast' });
  const { gas_limit: limit } = await stage.untilPooled(id, ({ to }) => to === WRITER);
  t.ok(limit > 40_000 && limit < 100_000, String(limit));
  const { hash } = await stage.mineUntil(id, 'confirmed');
  const receipt = (await stage.anvil.rpc('eth_getTransactionReceipt', [hash])) as Record<string, string>;
  t.equal(receipt['status'], '0x1');
});

t.test('the price cap refuses a replacement, and what is in the pool stays and is shown', async (t) => {
  const cap = Number(115n * (GWEI / 10n));
  const stage = await nextStage();
  t.equal((await stage.ask('PATCH', stage.relayer, { policies: { gas_price_cap: cap } })).status, 200);
  const id = await stage.send(PRICED);
  const before = await stage.untilPooled(id);
  for (const [body, error] of [
    [{ ...PRICED, value: 9, max_fee_per_gas: cap + 1 }, `Max fee per gas ${cap + 1} exceeds gas price cap ${cap}`],
    [
      { to: RECEIVER, value: 9, gas_limit: 21_000, gas_price: cap + 1 },
      `Gas price is too high: gas_price ${cap + 1} exceeds gas price cap ${cap}`,
    ],
  ] as const) {
    const answer = await stage.ask('PUT', `${stage.transactions}/${id}`, body);
    t.strictSame([answer.status, answer.body.error], [400, error]);
  }
  t.strictSame(await stage.get(id), before);

  // The cap allows one price increase, but not a second one.
  t.equal((await stage.ask('PUT', `${stage.transactions}/${id}`, { ...TRANSFER, value: 8 })).status, 200);
  const raised = await stage.untilPooled(id, ({ value }) => value === '0x8');
  const again = await stage.ask('PUT', `${stage.transactions}/${id}`, { ...TRANSFER, value: 9 });
  t.equal(again.status, 400);
  t.match(again.body.error, /^Unable to calculate sufficient price bump for speed-based replacement/);
  t.strictSame(await stage.get(id), raised);
  await stage.mineUntil(id, 'confirmed');
  t.equal(await stage.balance(RECEIVER), 8n);
});

t.test('when the original is in a block after all, the transaction shows the original', async (t) => {
  const stage = await nextStage();
  const id = await stage.send({ ...TRANSFER, data: '0x01', gas_limit: 22_000 });
  const original = await stage.untilPooled(id);
  const raw = await stage.anvil.rpc('eth_getRawTransactionByHash', [original.hash]);
  await stage.ask('PUT', `${stage.transactions}/${id}`, { ...TRANSFER, to: OTHER, value: 9 });
  const replaced = await stage.untilPooled(id, ({ to }) => to === OTHER);
  t.match(replaced, { value: '0x9', data: '0x', nonce: original.nonce });
  await stage.anvil.rpc('anvil_dropTransaction', [replaced.hash]);
  await stage.anvil.rpc('eth_sendRawTransaction', [raw]);
  const ended = await stage.mineUntil(id, 'confirmed');
  const { hash, to, value, data, max_fee_per_gas: fee, signature } = original;
  t.match(ended, { hash, to, value, data, max_fee_per_gas: fee, signature, is_canceled: false });
  t.equal(await stage.balance(RECEIVER), 7n);
  t.equal(await stage.balance(OTHER), 0n, 'at most one of the versions has its effect');
});

t.test('replaced again and again, the last version counts, under one nonce', async (t) => {
  const stage = await nextStage();
  const id = await stage.send();
  const { nonce } = await stage.untilPooled(id);
  for (const value of [8, 9]) {
    const answer = await stage.ask('PUT', `${stage.transactions}/${id}`, { ...TRANSFER, value });
    t.match(answer.body.data, { id, nonce, value: `0x${value}` });
  }
  await stage.untilPooled(id, ({ value }) => value === '0x9');
  await stage.mineUntil(id, 'confirmed');
  t.equal(await stage.balance(RECEIVER), 9n);
  t.equal(await stage.usedNonces(), 1);
  const late = await stage.ask('PUT', `${stage.transactions}/${id}`, TRANSFER);
  t.strictSame(
    [late.status, late.body.error],
    [
      400,
      'Invalid transaction state for replace_transaction. Current: Confirmed, Expected one of: [Pending, Sent, Submitted]',
    ],
  );
});

t.test('what was priced the old way can be replaced on a network of the new way, and back', async (t) => {
  const stage = await nextStage();
  const id = await stage.send({ to: RECEIVER, value: 7, gas_limit: 21_000, gas_price: Number(10n * GWEI) });
  await stage.untilPooled(id);
  t.equal((await stage.ask('PUT', `${stage.transactions}/${id}`, { ...TRANSFER, value: 8 })).status, 200);
  await stage.untilPooled(id, ({ value }) => value === '0x8');
  const legacy = { to: RECEIVER, value: 9, gas_limit: 21_000, gas_price: Number(20n * GWEI) };
  t.equal((await stage.ask('PUT', `${stage.transactions}/${id}`, legacy)).status, 200);
  const pooled = await stage.untilPooled(id, ({ value }) => value === '0x9');
  t.match(pooled, { gas_price: String(20n * GWEI), max_fee_per_gas: null });
  await stage.mineUntil(id, 'confirmed');
  t.equal(await stage.balance(RECEIVER), 9n);
});
