/**
 * Whatever passes the guard is executed on a real SVM, signed by everybody who could be asked to: the relayer must not lose
 * more than the fee, nor anything that it owns.
 */
import {
  createAssociatedTokenAccountInstruction,
  createInitializeMintInstruction,
  createMintToInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  Keypair,
  NONCE_ACCOUNT_LENGTH,
  type PublicKey,
  SYSVAR_RECENT_BLOCKHASHES_PUBKEY,
  SYSVAR_RENT_PUBKEY,
  SystemProgram,
  Transaction,
  TransactionInstruction,
} from '@solana/web3.js';
import t from 'tap';
import { policyViolation } from '../../src/chains/solana/guard/policies.ts';
import { decodeMessage } from '../../src/chains/solana/message/message.ts';
import { readPolicy } from '../../src/chains/solana/policy.ts';
import { fc, runsOf } from '../support/properties.ts';
import { familyInstructions } from '../support/solana-instructions.ts';
import { SolanaScenario } from '../support/solana-scenario.ts';
import { startSvmScene } from '../support/svm-scene.ts';

const scene = await startSvmScene();
const { svm, connection, funded } = scene;
t.teardown(() => svm.stop());

const policy = readPolicy({ fee_payment_strategy: 'relayer' });
const templates = familyInstructions();

t.test('every signing path refuses every place in which a relayer could lose', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  await scenario.start();
  let refused = 0;
  for (const { name, instruction } of templates) {
    for (const place of instruction.keys.keys()) {
      const keys = instruction.keys.map((meta, index) =>
        index === place ? { ...meta, pubkey: scenario.relayer } : meta,
      );
      const named = new TransactionInstruction({ programId: instruction.programId, keys, data: instruction.data });
      const transaction = await scenario.built([], named);
      const sent = await reasonOf(scenario.request({ transaction }));
      const signed = await reasonOf(scenario.signOnly(transaction));
      const isRefused = sent.includes('Policy violation');
      t.equal(signed.includes('Policy violation'), isRefused, `${name}, account ${place + 1}: ${sent}, ${signed}`);
      refused += Number(isRefused);
    }
  }
  t.ok(refused > 150, `${refused} are refused`);
});

t.test('what passes the guard takes nothing but the fee, whoever signs it as well', async (t) => {
  const world = await treasure();
  const { relayer, attacker, pool } = world;
  let [passed, executed] = [0, 0];
  // Most often those that matter: the relayer, what it owns, and who wants it.
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
      const instructions = steps.map(({ template, accounts }) => {
        const { instruction } = templates[template] ?? { instruction: templates[0]?.instruction };
        if (instruction === undefined) throw new Error('no template');
        const keys = instruction.keys.map((meta, index) => ({
          ...meta,
          pubkey: pool[accounts[index] ?? 0] ?? meta.pubkey,
        }));
        return new TransactionInstruction({ programId: instruction.programId, keys, data: instruction.data });
      });
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
    { numRuns: runsOf(1_500) },
  );
  t.ok(passed > 50, `${passed} passed the guard`);
  t.ok(executed > 20, `${executed} reached a block`);
});

/** A relayer that owns something of each kind, somebody who wants it, and the accounts that they could name. */
async function treasure() {
  const [relayer, attacker] = [await funded(), await funded()];
  const pool: PublicKey[] = [relayer.publicKey, attacker.publicKey, Keypair.generate().publicKey];
  const tokens: PublicKey[] = [];
  await svm.tick();
  for (const program of [TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID]) {
    const mint = Keypair.generate();
    const lamports = await connection.getMinimumBalanceForRentExemption(MINT_SIZE);
    const own = getAssociatedTokenAddressSync(mint.publicKey, relayer.publicKey, false, program);
    const other = getAssociatedTokenAddressSync(mint.publicKey, attacker.publicKey, false, program);
    const creation = { fromPubkey: attacker.publicKey, newAccountPubkey: mint.publicKey, space: MINT_SIZE, lamports };
    await scene.land(
      await scene.signed(
        [attacker, mint],
        SystemProgram.createAccount({ ...creation, programId: program }),
        createInitializeMintInstruction(mint.publicKey, 6, attacker.publicKey, null, program),
        createAssociatedTokenAccountInstruction(attacker.publicKey, own, relayer.publicKey, mint.publicKey, program),
        createAssociatedTokenAccountInstruction(attacker.publicKey, other, attacker.publicKey, mint.publicKey, program),
        createMintToInstruction(mint.publicKey, own, attacker.publicKey, 1_000, [], program),
        createMintToInstruction(mint.publicKey, other, attacker.publicKey, 1_000, [], program),
      ),
    );
    tokens.push(own);
    pool.push(own, other, mint.publicKey, program);
  }
  const nonce = Keypair.generate();
  const lamports = await connection.getMinimumBalanceForRentExemption(NONCE_ACCOUNT_LENGTH);
  const { instructions } = SystemProgram.createNonceAccount({
    ...{ fromPubkey: attacker.publicKey, noncePubkey: nonce.publicKey, lamports },
    authorizedPubkey: relayer.publicKey,
  });
  await scene.land(await scene.signed([attacker, nonce], ...instructions));
  pool.push(nonce.publicKey, SystemProgram.programId, SYSVAR_RECENT_BLOCKHASHES_PUBKEY, SYSVAR_RENT_PUBKEY);
  return {
    ...{ relayer, attacker, pool },
    async state() {
      const accounts = await connection.getMultipleAccountsInfo(
        [relayer.publicKey, ...tokens, nonce.publicKey],
        'processed',
      );
      const [wallet, ...owned] = accounts;
      const shown = owned.map((account, index) => {
        // A mint can freeze, and a nonce move on: what is owned stays the same.
        const data = account?.data.subarray(0, index < tokens.length ? 72 : 40).toString('hex');
        return [`account ${index + 1}`, `${account?.owner.toBase58()} ${data}`];
      });
      const kept = {
        wallet: wallet?.owner.toBase58() ?? 'gone',
        ...(Object.fromEntries(shown) as Record<string, string>),
      };
      return { lamports: wallet?.lamports ?? 0, owned: kept as Record<string, string> };
    },
  };
}

/** What something is refused with. */
const reasonOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'taken',
    (error: Error) => error.message,
  );
