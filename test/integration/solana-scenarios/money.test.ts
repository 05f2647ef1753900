/** Payments that must not be made, or must not exceed the available money. */
import { ComputeBudgetProgram, Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import t from 'tap';
import { SolanaScenario } from '../../support/solana-scenario.ts';
import { memo } from '../../support/solana-stage.ts';
import { anyone, startSvmScene, transfer } from '../../support/svm-scene.ts';

const scene = await startSvmScene();
const { svm, connection, funded } = scene;
t.teardown(() => svm.stop());

t.test('a blockhash that lapses while the signer thinks costs nothing but time', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  const gate = Promise.withResolvers<void>();
  scenario.signing = gate.promise;
  await scenario.start();
  const id = await scenario.send();
  await scenario.until('asked to sign', () => scenario.signatures > 0);
  await scenario.lapse();
  gate.resolve();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
});

t.test('each attempt after one that got into no block offers a higher price', async (t) => {
  const scenario = await SolanaScenario.open(t, scene, { policies: { max_allowed_fee_lamports: 5_030 } });
  await scenario.start();
  await svm.dropNext(1_000);
  const id = await scenario.send();
  for (let count = 1; count < 5; count += 1) {
    await scenario.untilStatus(id, 'submitted');
    await scenario.lapse();
    await scenario.until('renewed', async () => (await scenario.attempts(id)).length > count, { mining: true });
  }
  const attempts = await scenario.attempts(id);
  const fees = attempts.map(({ fields }) => Number(fields['fee']));
  t.ok(
    fees.every((fee, index) => fee <= 5_030 && fee >= (fees[index - 1] ?? 0)),
    fees.join(),
  );
  t.ok((fees[1] ?? 0) > (fees[0] ?? 0) && (fees[2] ?? 0) > (fees[1] ?? 0), fees.join());
  await svm.dropNext(0);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
});

t.test('what a renewal has signed and somebody posts is the transaction that it is', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  await scenario.start();
  await svm.dropNext(1_000);
  const id = await scenario.request({ transaction: await scenario.builtMemo('renewed') });
  await scenario.untilStatus(id, 'submitted');
  await scenario.lapse();
  await svm.dropNext(0);
  await scenario.until('renewed', async () => (await scenario.attempts(id)).length > 1, { mining: true });
  for (const { raw } of await scenario.attempts(id)) t.equal(await scenario.request({ transaction: raw }), id);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  for (const { raw } of await scenario.attempts(id)) t.equal(await scenario.request({ transaction: raw }), id);
  t.equal(await scenario.transactionCount(), 1);
  t.equal(await scenario.executions(id), 1);
});

t.test('what is only signed leaves what is under way its money, and pays no price without a bound', async (t) => {
  const scenario = await SolanaScenario.open(t, scene, { lamports: 10_009_000n });
  const transaction = await scenario.builtMemo('signed');
  await scenario.start();
  t.match(await scenario.signOnly(transaction), { signature: String });
  await svm.landLater(50);
  const id = await scenario.send();
  await scenario.untilStatus(id, 'submitted');
  t.match(await refusal(scenario.signOnly(transaction)), /Insufficient relayer balance.*Under way: 5\d\d\d/);
  await svm.landLater(0);

  const rich = await SolanaScenario.open(t, scene);
  const dear = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 100_000_000 });
  const asked = await rich.built([], ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 }), dear);
  t.match(await refusal(rich.signOnly(asked)), /Fee amount 20005000 exceeds max allowed fee amount 10000000/);
});

t.test('an old blockhash of a client gives way to a new one where only the relayer signs', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  await scenario.start();
  const transaction = await scenario.built([], SystemProgram.transfer({ ...pair(), lamports: 0 }));
  t.match(await refusal(scenario.request({ transaction })), /signature of .* is missing/);
  const alone = await scenario.builtMemo('old');
  await scenario.lapse();
  const id = await scenario.request({ transaction: alone });
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);

  const user = await funded();
  const signed = await scenario.built([user], transfer(user, anyone(), 1_000_000));
  await scenario.lapse();
  const late = await scenario.request({ transaction: signed });
  await scenario.untilStatus(late, 'expired', { mining: true });
  t.match((await scenario.get(late)).statusReason, /requires 2 signatures \(cannot resubmit\)/);
});

t.test('where its policies deny it, what the relayer itself would lose is refused wherever it signs', async (t) => {
  const scenario = await SolanaScenario.open(t, scene, { policies: { own_funds: 'deny' } });
  await scenario.start();
  const drain = SystemProgram.transfer({ fromPubkey: scenario.relayer, toPubkey: anyone(), lamports: 1_000_000 });
  const transaction = await scenario.built([], drain);
  t.match(
    await refusal(scenario.request({ transaction })),
    /Lamports transfers are not allowed from the relayer account/,
  );
  t.match(await refusal(scenario.signOnly(transaction)), /Lamports transfers are not allowed from the relayer account/);
  const keys = drain.keys.map(({ pubkey, isSigner, isWritable }) => ({
    pubkey: pubkey.toBase58(),
    is_signer: isSigner,
    is_writable: isWritable,
  }));
  const instruction = { program_id: drain.programId.toBase58(), accounts: keys, data: drain.data.toString('base64') };
  t.match(await refusal(scenario.request({ instructions: [instruction] })), /Lamports transfers are not allowed/);
});

t.test('a transaction that is signed for somebody else passes the same checks', async (t) => {
  const scenario = await SolanaScenario.open(t, scene, {
    policies: { max_allowed_fee_lamports: 10_000, max_signatures: 2 },
  });
  await scenario.start();
  const [user, to] = [await funded(), anyone()];
  const signed = await scenario.signOnly(await scenario.built([], transfer(user, to, 2_000_000)));
  const transaction = Transaction.from(Buffer.from(String(signed['transaction']), 'base64'));
  transaction.partialSign(user);
  await scene.land(transaction.serialize());
  t.equal(await connection.getBalance(to), 2_000_000);

  const poor = Keypair.generate();
  t.match(
    await refusal(scenario.signOnly(await scenario.built([], transfer(poor, to, 2_000_000)))),
    /Simulation failed/,
  );
  const stale = await scenario.built([], transfer(user, to, 1_000_000));
  await scenario.lapse();
  t.match(await refusal(scenario.signOnly(stale)), /Blockhash/);
});

t.test('many at once never take the account below its minimum', async (t) => {
  const [lamports, minimum] = [1_000_000, 950_000];
  const scenario = await SolanaScenario.open(t, scene, {
    lamports: BigInt(lamports),
    policies: { min_balance: minimum },
  });
  await scenario.start();
  const ids: string[] = [];
  for (let count = 0; count < 30; count += 1) ids.push(await scenario.send());
  const states = async () => Promise.all(ids.map(async (id) => (await scenario.get(id)).status));
  await scenario.until(
    'all that is affordable is done',
    async () => {
      const all = await states();
      return (
        all.filter((status) => status === 'confirmed').length === 10 &&
        all.every((one) => one === 'pending' || one === 'confirmed')
      );
    },
    { mining: true },
  );
  t.ok((await scenario.balance()) >= minimum);
  const told = /Insufficient relayer balance\. Required: \d+, Available: \d+, Fee: 5000, Min balance: 950000/;
  await scenario.until('those that wait say why', async () => {
    const all = await Promise.all(ids.map((id) => scenario.get(id)));
    const waiting = all.filter(({ status }) => status === 'pending');
    return waiting.length === 20 && waiting.every(({ statusReason }) => told.test(statusReason ?? ''));
  });
});

t.test('programs that are called behind logs which are cut off count as forbidden', async (t) => {
  const allowed_programs = [memo('').program_id];
  const scenario = await SolanaScenario.open(t, scene, { policies: { allowed_programs } });
  await scenario.start();
  const loud = { ...memo('x'.repeat(500)) };
  const quiet = await scenario.send({ instructions: [loud] });
  await scenario.untilStatus(quiet, 'confirmed', { mining: true });
  const cut = { context: { slot: 1 }, value: { err: null, logs: ['Log truncated'], unitsConsumed: 5 } };
  await svm.fault({ methods: ['simulateTransaction'], times: 1, act: { kind: 'result', result: cut } });
  const id = await scenario.send({ instructions: [loud] });
  await scenario.untilStatus(id, 'failed');
  t.match((await scenario.get(id)).statusReason, /the programs that it calls cannot be checked/);
});

t.test('prices are counted in their own unit, and never beyond the cap', async (t) => {
  await svm.setPrioritizationFee(5_000_000);
  t.teardown(() => svm.setPrioritizationFee(0));
  const scenario = await SolanaScenario.open(t, scene, { policies: { max_allowed_fee_lamports: 7_000 } });
  await scenario.start();
  const before = await scenario.balance();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  const paid = before - (await scenario.balance());
  t.ok(paid > 5_000 && paid <= 7_000, `${paid} lamports`);

  const [free] = [await SolanaScenario.open(t, scene)];
  await free.start();
  const had = await free.balance();
  await free.untilStatus(await free.send(), 'confirmed', { mining: true });
  t.ok(had - (await free.balance()) < 100_000, 'micro-lamports a unit');
});

t.test('a fee beyond the cap is refused with both figures', async (t) => {
  const scenario = await SolanaScenario.open(t, scene, { policies: { max_allowed_fee_lamports: 4_999 } });
  await scenario.start();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'failed');
  t.equal(
    (await scenario.get(id)).statusReason,
    'Solana transaction validation error: Policy violation: Fee amount 5000 exceeds max allowed fee amount 4999',
  );
});

t.test('a failure on the chain says which instruction and why, and its fee is known', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  await scenario.start();
  const [user, to] = [await funded(), anyone()];
  // Each passes its simulation alone. When the second one runs, the money is gone.
  const first = await scenario.built([user], transfer(user, to, 9_000_000_000));
  const second = await scenario.built([user], transfer(user, to, 8_000_000_000));
  const ids = [await scenario.request({ transaction: first }), await scenario.request({ transaction: second })];
  for (const id of ids) await scenario.untilStatus(id, 'submitted');
  await scenario.until(
    'both have ended',
    async () => {
      const all = await Promise.all(ids.map(async (id) => (await scenario.get(id)).status));
      return all.includes('confirmed') && all.includes('failed');
    },
    { mining: true },
  );
  const ends = await Promise.all(ids.map((id) => scenario.get(id)));
  const failed = ends.find(({ status }) => status === 'failed');
  t.match(failed?.statusReason, /^Instruction 1 \(program 1{32}\) failed: custom program error 0x1 \(1\)/);
  t.match(failed?.fields, { receipt: { succeeded: false, fee: 10_000, logs: [/invoke/] } });
});

t.test('the System program can be called in instructions', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  await scenario.start();
  t.match(
    await refusal(
      scenario
        .request({ instructions: [{ program_id: '1'.repeat(32), accounts: [], data: '' }, memo('x')] })
        .then((id) => scenario.untilStatus(id, 'confirmed', { mining: true, withinMs: 2_000 })),
    ),
    /Simulation failed: Instruction 1 \(program 1{32}\) failed: InvalidInstructionData/,
  );
});

const pair = () => ({ fromPubkey: Keypair.generate().publicKey, toPubkey: anyone() });

/** The reason of a refusal, or `taken`. */
const refusal = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'taken',
    (error: Error) => error.message,
  );
