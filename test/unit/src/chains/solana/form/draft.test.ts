import { ComputeBudgetProgram, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { readPolicy } from '../../../../../../src/chains/solana/configuration/policy.ts';
import { type Draft, draftOf } from '../../../../../../src/chains/solana/form/draft.ts';
import { encodeMessage } from '../../../../../../src/chains/solana/message/compiled-message.ts';
import { readComputeBudget } from '../../../../../../src/chains/solana/message/compute-budget.ts';
import { decodeTransaction } from '../../../../../../src/chains/solana/message/transaction.ts';
import type { SolanaRequest } from '../../../../../../src/chains/solana/schema.ts';
import { keypair } from '../../../../../support/solana-messages.ts';
import { keyOf, type NodeWorld, openSolana } from '../../../../../support/solana-node.ts';
import { built, memo, onWire, RELAYER } from '../../../../../support/solana-relayer.ts';

const USER = keypair(32);
const LATEST = keyOf(6);
const payer = RELAYER.publicKey.toBase58();

async function draft(t: Test, request: SolanaRequest, node: NodeWorld = {}, policies: object = {}) {
  const { rpc, asked, doubles } = await openSolana(t, { latest: LATEST, ...node });
  const made = await rpc.onOne((read) => draftOf(read, request, payer, readPolicy({ ...policies })));
  return { made, asked, calls: doubles.flatMap(({ calls }) => calls) };
}

function assertDrafted(made: Awaited<ReturnType<typeof draft>>['made']): asserts made is Draft {
  if (made.kind !== 'drafted') throw new Error(JSON.stringify(made));
}

/** The draft of a request that gives instructions. */
async function composed(t: Test, instructions: TransactionInstruction[], node?: NodeWorld, policies?: object) {
  const { made, asked, calls } = await draft(t, { instructions: instructions.map(onWire) }, node, policies);
  assertDrafted(made);
  return { made, asked, calls };
}

t.test('the client’s bytes stay as they are while their blockhash is good', async (t) => {
  const transaction = built([memo('a', USER)], { signers: [USER] });
  const { made, asked } = await draft(t, { transaction }, { slot: 5_000, valid: [keyOf(7)] });
  const { message, signatures } = decodeTransaction(transaction);
  t.strictSame(made, {
    kind: 'drafted',
    message,
    asked: message,
    signatures,
    // The double's block height is its slot minus 100. The client may have sent the bytes itself up to 150 blocks ago,
    // so the search begins 1000 slots back.
    lastValidBlockHeight: 5_050n,
    slot: 4_000n,
  });
  t.equal(asked('simulateTransaction') + asked('getLatestBlockhash'), 0);
  t.match((await draft(t, { transaction }, { slot: 200 })).made, { slot: 0n });
});

t.test('a blockhash that only the newest block knows is good', async (t) => {
  const { calls } = await draft(t, { transaction: built([memo('a')]) });
  const params = calls.filter(({ method }) => method === 'isBlockhashValid').map(({ params }) => params);
  t.strictSame(params, [[keyOf(7), { commitment: 'processed' }]]);
});

t.test('an old blockhash gives way to the latest where only the relayer signs', async (t) => {
  const transaction = built([memo('a')], { signers: [RELAYER] });
  const { made } = await draft(t, { transaction }, { valid: [] });
  assertDrafted(made);
  const theirs = decodeTransaction(built([memo('a')], { blockhash: LATEST }));
  t.strictSame(encodeMessage(made.message), theirs.messageBytes);
  t.strictSame(made.asked, made.message);
  t.strictSame([made.lastValidBlockHeight, made.slot], [1_048n, 998n]);
});

t.test('an old blockhash that others signed has expired, in the reference’s words', async (t) => {
  const { made } = await draft(t, { transaction: built([memo('a', USER)], { signers: [USER] }) }, { valid: [] });
  t.strictSame(made, {
    kind: 'refused',
    end: 'expired',
    reason: 'Blockhash expired and transaction requires 2 signatures (cannot resubmit)',
  });
});

const NONCE = keyOf(51);
const advance = SystemProgram.nonceAdvance({ noncePubkey: new PublicKey(NONCE), authorizedPubkey: USER.publicKey });

/** A node whose nonce account holds this value. */
function withNonce(value: string): NodeWorld {
  const data = Buffer.alloc(80);
  data.writeUInt32LE(1, 4);
  new PublicKey(value).toBuffer().copy(data, 40);
  return { valid: [], accounts: { [NONCE]: { owner: SystemProgram.programId.toBase58(), data } } };
}

t.test('under a durable nonce the value counts, and no age', async (t) => {
  const transaction = built([advance, memo('a')], { signers: [USER] });
  const { made, asked } = await draft(t, { transaction }, { ...withNonce(keyOf(7)), slot: 5_000 });
  t.match(made, {
    kind: 'drafted',
    lastValidBlockHeight: null,
    slot: 3_998n,
    nonce: { account: NONCE, value: keyOf(7) },
  });
  t.equal(asked('isBlockhashValid'), 0);
  const said = 'Solana transaction validation error: Nonce account';
  t.strictSame((await draft(t, { transaction }, withNonce(keyOf(8)))).made, {
    kind: 'refused',
    reason: `${said} ${NONCE} has moved on: its value is ${keyOf(8)}, not ${keyOf(7)}`,
  });
  t.strictSame((await draft(t, { transaction })).made, {
    kind: 'refused',
    reason: `${said} ${NONCE} does not exist, or is not one`,
  });
});

t.test('instructions are composed under the latest blockhash, in their places', async (t) => {
  const instructions = [memo('one'), memo('two', RELAYER)];
  const { made } = await composed(t, instructions, { simulation: { unitsConsumed: 10_000 }, prices: [2_000] });
  const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 12_000 });
  const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 2_000 });
  const theirs = decodeTransaction(built([...instructions, limit, price], { blockhash: LATEST }));
  t.strictSame(encodeMessage(made.message), theirs.messageBytes);
  const bare = decodeTransaction(built(instructions, { blockhash: LATEST }));
  t.strictSame(encodeMessage(made.asked), bare.messageBytes);
  t.strictSame([made.lastValidBlockHeight, made.slot], [1_048n, 998n]);
  t.strictSame(made.signatures, [Buffer.alloc(64)]);
  t.match(made.tried, { error: null, used: 10_000n });
});

t.test('a price is asked of those that are written to, and left out where nobody asks one', async (t) => {
  const transfer = SystemProgram.transfer({
    fromPubkey: new PublicKey(keyOf(41)),
    toPubkey: new PublicKey(keyOf(42)),
    lamports: 1,
  });
  const { programId, data, keys } = transfer;
  const unsigned = keys.map((meta) => ({ ...meta, isSigner: false }));
  const { made, calls } = await composed(t, [
    memo('a'),
    new TransactionInstruction({ programId, data, keys: unsigned }),
  ]);
  const asked = calls.find(({ method }) => method === 'getRecentPrioritizationFees');
  t.strictSame(asked?.params, [[payer, keyOf(41), keyOf(42)]]);
  t.strictSame(readComputeBudget(made.message), { limit: 2_100, price: undefined });
});

t.test('what the client says of its computation stands', async (t) => {
  const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 777 });
  const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 3 });
  const node = { simulation: { unitsConsumed: 450 }, prices: [9] };
  const budgetOf = async (...own: TransactionInstruction[]) => {
    const { made } = await composed(t, [...own, memo('a')], node);
    return [made.message.instructions.length, readComputeBudget(made.message)];
  };
  t.strictSame(await budgetOf(limit, price), [3, { limit: 777, price: 3n }]);
  t.strictSame(await budgetOf(limit), [3, { limit: 777, price: 9n }]);
  t.strictSame(await budgetOf(price), [3, { limit: 1_495, price: 3n }]);
});

t.test('the price is lowered to the cap, down to none', async (t) => {
  const node = { simulation: { unitsConsumed: 90_000 }, prices: [10 ** 12] };
  for (const [most, price] of [
    [15_000, 100_000n],
    [5_001, 10n],
    [5_000, undefined],
    [1, undefined],
    [null, 99_950_000n],
  ] as const) {
    const { made } = await composed(t, [memo('a')], node, { max_allowed_fee_lamports: most });
    t.strictSame(readComputeBudget(made.message), { limit: 100_000, price });
  }
});

t.test('a trial that says nothing leaves the highest limit', async (t) => {
  const { made } = await composed(t, [memo('a')], { simulation: { unitsConsumed: null } });
  t.strictSame(readComputeBudget(made.message), { limit: 1_400_000, price: undefined });
});

t.test('what has no room for more stays as it is', async (t) => {
  const text = (size: number) => memo('x'.repeat(size));
  const full = await composed(t, [text(1_050)], { prices: [5] });
  t.strictSame(full.made.message, full.made.asked);
  t.equal(full.made.tried, undefined);
  t.equal(full.asked('simulateTransaction'), 0);
  const narrow = await composed(t, [text(10)], { prices: [5] }, { max_tx_data_size: 200 });
  t.strictSame(narrow.made.message, narrow.made.asked, 'by the policy');
  const wide = await composed(t, [text(10)], { prices: [5] }, { max_tx_data_size: 300 });
  t.equal(wide.made.message.instructions.length, 3);
});
