/**
 * Transactions that pass the guard run on a real SVM, with all signatures that others could give. The relayer must lose
 * no more than the fee, and nothing that it owns.
 */
import { createAssociatedTokenAccountIdempotentInstruction, createCloseAccountInstruction } from '@solana/spl-token';
import { type PublicKey, SystemProgram, Transaction, TransactionInstruction } from '@solana/web3.js';
import t from 'tap';
import { readPolicy } from '../../src/chains/solana/configuration/policy.ts';
import { simulatedLossFault } from '../../src/chains/solana/guard/fee-payer.ts';
import { policyViolation } from '../../src/chains/solana/guard/policies.ts';
import { decodeMessage } from '../../src/chains/solana/message/compiled-message.ts';
import { simulateTransaction } from '../../src/chains/solana/rpc-calls.ts';
import { rpcDialect } from '../../src/chains/solana/rpc-error-dialect.ts';
import type { JsonObject } from '../../src/domain/json/json.ts';
import { openRpc } from '../support/evm.ts';
import { fc, runsOf } from '../support/properties.ts';
import { familyInstructions } from '../support/solana-instructions.ts';
import { onWire } from '../support/solana-relayer.ts';
import { SolanaScenario } from '../support/solana-scenario.ts';
import { treasureOf } from '../support/solana-treasure.ts';
import { DOUBLE_MARKET } from '../support/sponsor-scene.ts';
import { anyone, startSvmScene, transfer } from '../support/svm-scene.ts';
import { makeToken } from '../support/token-scene.ts';

const scene = await startSvmScene();
const { svm, connection, funded } = scene;
t.teardown(() => svm.stop());

const policy = readPolicy({ fee_payment_strategy: 'relayer' });
const templates = familyInstructions();

/** The guard's own test covers every tag of a loader. This test leaves most of them out. */
const isTold = ({ name }: { name: string }) => !/(loader|loader-v4|unknown) ([3-9]|1\d)$/.test(name);

t.test('every signing path refuses every place in which a relayer could lose', async (t) => {
  const keys = await funded();
  const scenario = await SolanaScenario.open(t, scene, { keys, policies: { own_funds: 'deny' } });
  await scenario.start();
  const spending = await SolanaScenario.open(t, scene, { keys });
  const user = (await funded()).publicKey;
  const native = SystemProgram.programId.toBase58();
  const called = async (method: string, params: JsonObject) => {
    const { error } = await scenario.call(method, params);
    return error?.description ?? 'taken';
  };
  let refused = 0;
  for (const { name, instruction } of templates.filter(isTold)) {
    for (const place of instruction.keys.keys()) {
      const named = namedAt(instruction, place, scenario.relayer);
      const transaction = await scenario.built([], named);
      const isRefused = (reason: string) => reason.includes('Policy violation');
      const wanted = isRefused(await reasonOf(scenario.request({ transaction })));
      const foreign = await scenario.builtFor(user, named);
      const paths: [string, Promise<string>][] = [
        ['sign-transaction', reasonOf(scenario.signOnly(transaction))],
        ['signTransaction', called('signTransaction', { transaction })],
        ['signAndSendTransaction', called('signAndSendTransaction', { transaction })],
        ['prepareTransaction', called('prepareTransaction', { transaction: foreign, fee_token: native })],
      ];
      const strangers = named.keys.some(({ pubkey, isSigner }) => isSigner && !pubkey.equals(scenario.relayer));
      if (!strangers) paths.push(['instructions', reasonOf(scenario.request({ instructions: [onWire(named)] }))]);
      // Where its own funds may be spent, that holds for what nobody else signs. And nobody ends the account.
      const isEnded = /^system (assign|allocate)$/.test(name) && place === 0;
      const kept = isRefused(await reasonOf(spending.request({ transaction })));
      t.equal(kept, strangers ? wanted : isEnded, `${name}, account ${place + 1}: own funds`);
      for (const [path, reason] of paths) {
        t.equal(isRefused(await reason), wanted, `${name}, account ${place + 1}: ${path}: ${await reason}`);
      }
      refused += Number(wanted);
    }
  }
  t.ok(refused > 200, `${refused} are refused`);
});

t.test('a trial shows what programs take among themselves', async (t) => {
  const rpc = openRpc([svm.url], undefined, rpcDialect);
  t.teardown(() => rpc.close());
  const payer = await funded();
  const usd = await makeToken(scene);
  const rent = BigInt(await connection.getMinimumBalanceForRentExemption(165));
  const shown = async (instruction: TransactionInstruction, most: bigint) => {
    const trial = (await scene.signed([payer], instruction)).toString('base64');
    const bound = { payer: payer.publicKey.toBase58(), trial, replacesBlockhash: false, most };
    return rpc.onOne(async (read) => {
      const tried = await simulateTransaction(read, trial, { replacesBlockhash: false, after: [bound.payer] });
      t.equal(tried.error, null);
      return simulatedLossFault(read, tried, BigInt(await connection.getBalance(payer.publicKey)), bound);
    });
  };
  const owner = anyone();
  const create = createAssociatedTokenAccountIdempotentInstruction(
    ...([payer.publicKey, usd.accountOf(owner), owner, usd.mint] as const),
  );
  t.equal(await shown(create, 5_000n + rent), undefined);
  t.match(
    await shown(create, 5_000n + rent - 1n),
    /It takes \d+ lamports from the relayer account/,
    'by another program',
  );
  t.match(await shown(transfer(payer, anyone(), 1_000_000), 5_000n), /It takes 1005000 lamports/);
});

t.test('what passes the guard takes nothing but the fee, whoever signs it as well', async (t) => {
  const world = await treasureOf(scene);
  const { relayer, attacker, pool } = world;
  let [passed, executed] = [0, 0];
  // Mostly accounts that matter: the relayer, its accounts, and the attacker.
  const place = fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.constant(1) },
    { weight: 4, arbitrary: fc.nat(pool.length - 1) },
  );
  const step = fc.record({
    template: fc.nat(templates.length - 1),
    accounts: fc.array(place, { minLength: 12, maxLength: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 2 }), async (steps) => {
      const instructions = steps.map(({ template, accounts }) => drawn(template, accounts, pool));
      const latest = await connection.getLatestBlockhash();
      const transaction = new Transaction({ feePayer: relayer.publicKey, ...latest }).add(...instructions);
      const message = decodeMessage(transaction.compileMessage().serialize());
      const size = 1_000;
      if (policyViolation({ message, size }, relayer.publicKey.toBase58(), policy, { paysRent: false }) !== undefined)
        return;
      const signers = message.keys.slice(0, message.signers);
      const known = [relayer, attacker].filter(({ publicKey }) => signers.includes(publicKey.toBase58()));
      if (known.length < signers.length) return;
      passed += 1;
      transaction.sign(...known);
      const before = await world.state();
      await connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true });
      await svm.tick();
      const after = await world.state();
      executed += Number(after.lamports < before.lamports);
      if (after.lamports < before.lamports - 5_000 * known.length)
        throw new Error(`lost ${before.lamports - after.lamports}`);
      for (const [name, value] of Object.entries(before.owned)) {
        if (after.owned[name] !== value) throw new Error(`${name} was ${value}, and is ${after.owned[name]}`);
      }
    }),
    { numRuns: runsOf(300) },
  );
  t.ok(passed > 25, `${passed} passed the guard`);
  t.ok(executed > 10, `${executed} reached a block`);
});

t.test('where users pay, the relayer never ends poorer than it was, whatever it is paid for', async (t) => {
  const world = await treasureOf(scene);
  const { relayer, attacker, pool } = world;
  const scenario = await SolanaScenario.open(t, scene, {
    keys: relayer,
    market: DOUBLE_MARKET,
    policies: { fee_payment_strategy: 'user' },
  });
  const usd = await makeToken(scene);
  const owner = anyone();
  const made = usd.accountOf(owner);
  const own = usd.accountOf(attacker.publicKey);
  const create = (account: PublicKey, of: PublicKey) =>
    createAssociatedTokenAccountIdempotentInstruction(relayer.publicKey, account, of, usd.mint);
  const rent = await connection.getMinimumBalanceForRentExemption(165);
  const steps: (() => TransactionInstruction)[] = [
    () => create(made, owner),
    () => create(own, attacker.publicKey),
    () => createCloseAccountInstruction(own, attacker.publicKey, attacker.publicKey),
    () => createCloseAccountInstruction(own, relayer.publicKey, attacker.publicKey),
    ...[1, 5_000, 10_000, 10_000 + rent, rent, 2 * rent].map(
      (lamports) => () => transfer(attacker, relayer.publicKey, lamports),
    ),
  ];
  const place = fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.nat(pool.length - 1) });
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.nat(steps.length - 1).map((index) => steps[index]?.()) },
    {
      weight: 1,
      arbitrary: fc
        .record({ template: fc.nat(templates.length - 1), accounts: fc.array(place, { minLength: 12, maxLength: 12 }) })
        .map(({ template, accounts }) => drawn(template, accounts, pool)),
    },
  );
  let [signed, executed] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (drawnSteps) => {
      const instructions = drawnSteps.filter((one) => one !== undefined);
      const transaction = await scenario.built([], ...instructions);
      const { result } = await scenario.call('signTransaction', { transaction });
      if (result === undefined) return;
      signed += 1;
      const complete = Transaction.from(Buffer.from((result as { transaction: string }).transaction, 'base64'));
      const signers = complete.signatures.map(({ publicKey }) => publicKey.toBase58());
      if (signers.includes(attacker.publicKey.toBase58())) complete.partialSign(attacker);
      if (!complete.verifySignatures()) return;
      const before = await world.state();
      await connection.sendRawTransaction(complete.serialize(), { skipPreflight: true });
      // A simulation on an older state can pass, and the chain then refuses. As the guide says, that costs the fee.
      await svm.tick(2);
      const after = await world.state();
      executed += 1;
      if (after.lamports < before.lamports) throw new Error(`lost ${before.lamports - after.lamports}`);
      for (const [name, value] of Object.entries(before.owned)) {
        if (after.owned[name] !== value) throw new Error(`${name} was ${value}, and is ${after.owned[name]}`);
      }
    }),
    { numRuns: runsOf(100) },
  );
  t.ok(executed > 20, `of ${signed} signed ones ${executed} are executed`);
});

/** The instruction with an account in one of its places. */
function namedAt({ programId, keys, data }: TransactionInstruction, place: number, account: PublicKey) {
  const named = keys.map((meta, index) => (index === place ? { ...meta, pubkey: account } : meta));
  return new TransactionInstruction({ programId, keys: named, data });
}

/** An instruction with accounts from a pool. */
function drawn(template: number, accounts: readonly number[], pool: readonly PublicKey[]) {
  const { instruction } = templates[template] ?? {};
  if (instruction === undefined) throw new Error('no template');
  const keys = instruction.keys.map((meta, index) => ({ ...meta, pubkey: pool[accounts[index] ?? 0] ?? meta.pubkey }));
  return new TransactionInstruction({ programId: instruction.programId, keys, data: instruction.data });
}

/** The reason of a refusal, or `taken`. */
const reasonOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'taken',
    (error: Error) => error.message,
  );
