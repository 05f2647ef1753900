// What passes here is signed and paid for. So each refusal and each reason to wait has a case, and so has each lie of
// one node of two.
import { ACCOUNT_SIZE, createTransferInstruction, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import t, { type Test } from 'tap';
import { readPolicy } from '../../../../../src/chains/solana/configuration/policy.ts';
import { draftMessage, type MessageDraft } from '../../../../../src/chains/solana/form/draft.ts';
import { decodeMessage, encodeMessage } from '../../../../../src/chains/solana/message/compiled-message.ts';
import { readComputeBudget } from '../../../../../src/chains/solana/message/compute-budget.ts';
import { decodeTransaction } from '../../../../../src/chains/solana/message/transaction.ts';
import { judgeForSigning, prepareTransaction } from '../../../../../src/chains/solana/prepare.ts';
import { ADDRESS_LOOKUP_TABLE_PROGRAM } from '../../../../../src/chains/solana/programs.ts';
import type { SolanaRequest } from '../../../../../src/chains/solana/schema.ts';
import { renewedFields } from '../../../../../src/chains/solana/signing.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';
import type { DoubleHandler } from '../../../../support/rpc-double.ts';
import { keypair } from '../../../../support/solana-messages.ts';
import { keyOf, type NodeWorld, openSolana, solanaNode } from '../../../../support/solana-node.ts';
import { built, memo, onWire, RELAYER, relayerAccount } from '../../../../support/solana-relayer.ts';

const USER = keypair(32);
const LATEST = keyOf(6);
const REQUEST = { instructions: [onWire(memo('hello'))] };
/** A transaction that a client signed. Its cost is what the node reports. */
const GIVEN = { transaction: built([memo('hello', USER)], { signers: [USER] }) };

type Nodes = (NodeWorld | DoubleHandler)[];

async function prepared(t: Test, request: JsonObject, nodes: Nodes = [{}], policies: JsonObject = {}, committed = 0n) {
  const { rpc } = await openSolana(
    t,
    ...nodes.map((node) => (typeof node === 'function' ? node : { latest: LATEST, ...node })),
  );
  return prepareTransaction(rpc, { request }, relayerAccount(policies), { committed });
}

t.test('instructions become a message with its limits and its cost', async (t) => {
  const ready = await prepared(t, REQUEST, [{ fee: 5_000 }]);
  t.match(ready, {
    kind: 'ready',
    cost: 5_000n,
    anchor: { kind: 'none' },
    fields: { signatures: [''], last_valid_block_height: 1_048, slot: 998, fee: 5_000 },
  });
  t.notOk(ready.kind === 'ready' && 'rent' in ready.fields);
});

t.test('a client’s transaction keeps its bytes and the others’ signatures', async (t) => {
  const { messageBytes, signatures } = decodeTransaction(GIVEN.transaction);
  t.match(await prepared(t, GIVEN), {
    kind: 'ready',
    fields: { message: messageBytes.toString('base64'), signatures: ['', signatures[1]?.toString('base64')] },
  });
});

t.test('under a durable nonce the nonce is what is consumed', async (t) => {
  const NONCE = keyOf(51);
  const advance = SystemProgram.nonceAdvance({ noncePubkey: new PublicKey(NONCE), authorizedPubkey: USER.publicKey });
  const data = Buffer.alloc(80);
  data.writeUInt32LE(1, 4);
  data.fill(7, 40, 72);
  const node = { accounts: { [NONCE]: { owner: '1'.repeat(32), data } } };
  t.match(await prepared(t, { transaction: built([advance, memo('a')], { signers: [USER] }) }, [node]), {
    kind: 'ready',
    anchor: { kind: 'text', text: `${NONCE}:${keyOf(7)}` },
    fields: { last_valid_block_height: null, nonce_account: NONCE },
  });
});

const INVALID = 'Solana transaction validation error: ';
const failing = (err: unknown, logs: string[] = []): NodeWorld => ({ simulation: { err, logs, unitsConsumed: 0 } });

t.test('what a trial shows is refused, waited for, or let through', async (t) => {
  const where = 'Simulation failed: Instruction 1 (program MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr) failed: ';
  const cases: [unknown, object][] = [
    ['AlreadyProcessed', { kind: 'ready' }],
    ['BlockhashNotFound', { kind: 'parked', retryInMs: 1_000, cause: undefined }],
    ['InsufficientFundsForFee', { kind: 'parked', cause: 'balance', retryInMs: 10_000 }],
    ['AccountNotFound', { kind: 'parked', cause: 'balance' }],
    [{ InsufficientFundsForRent: { account_index: 0 } }, { kind: 'parked', cause: 'balance' }],
    [{ InsufficientFundsForRent: { account_index: 1 } }, { kind: 'refused', reason: /InsufficientFundsForRent/ }],
    [{ InstructionError: [0, 'InvalidArgument'] }, { kind: 'refused', reason: `${INVALID}${where}InvalidArgument` }],
    [
      { InstructionError: [0, { Custom: 6_000 }] },
      { kind: 'refused', reason: `${INVALID}${where}Closed (6000): We are closed` },
    ],
    [
      'ProgramAccountNotFound',
      { kind: 'refused', reason: /^Solana transaction validation error: Simulation failed: / },
    ],
  ];
  const errors = [{ code: 6_000, name: 'Closed', msg: 'We are closed' }];
  for (const request of [REQUEST, GIVEN]) {
    for (const [err, decided] of cases) {
      t.match(await prepared(t, { ...request, errors }, [failing(err)]), decided, JSON.stringify(err));
    }
  }
});

t.test('an error of the moment, or of a node that is behind, ends nothing', async (t) => {
  for (const err of ['AccountInUse', 'ProgramCacheHitMaxLimit', { ProgramExecutionTemporarilyRestricted: {} }]) {
    t.match(await prepared(t, REQUEST, [failing(err)]), { kind: 'parked', retryInMs: 1_000 }, JSON.stringify(err));
  }
  const at = (moment: number, request: JsonObject, world: NodeWorld) =>
    openSolana(t, { latest: LATEST, ...world }).then(({ rpc }) =>
      prepareTransaction(rpc, { request, createdAt: moment }, relayerAccount(), { committed: 0n }),
    );
  // The confirmed block of slot 998 is of the time 1,700,000,998.
  const [before, after] = [1_700_000_990_000, 1_700_000_997_000];
  const nonce = SystemProgram.nonceAdvance({
    noncePubkey: new PublicKey(keyOf(51)),
    authorizedPubkey: USER.publicKey,
  });
  const [table, signer] = [new PublicKey(keyOf(43)), new PublicKey(keyOf(44))];
  const state = { deactivationSlot: 0n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0, addresses: [signer] };
  const named = memo('a');
  named.keys.push({ pubkey: signer, isSigner: false, isWritable: true });
  const looking = new TransactionMessage({
    payerKey: RELAYER.publicKey,
    recentBlockhash: keyOf(7),
    instructions: [named],
  }).compileToV0Message([new AddressLookupTableAccount({ key: table, state })]);
  const cases: [JsonObject, NodeWorld, RegExp][] = [
    [REQUEST, failing('ProgramAccountNotFound'), /Simulation failed: ProgramAccountNotFound/],
    [{ transaction: built([nonce, memo('a')], { signers: [USER] }) }, {}, /Nonce account \S+ does not exist/],
    [
      { transaction: Buffer.from(new VersionedTransaction(looking).serialize()).toString('base64') },
      {},
      /Lookup table \S+ does not exist/,
    ],
  ];
  for (const [request, world, reason] of cases) {
    const parked = await at(after, request, world);
    t.match(parked, { kind: 'parked', retryInMs: 1_000, reason });
    t.match(parked, { reason: /; or the node is behind$/ });
    t.match(await at(before, request, world), { kind: 'refused', reason });
  }
});

t.test('each attempt after a dead one offers a higher price, within the fee that is allowed', async (t) => {
  const { rpc } = await openSolana(t, { latest: LATEST, simulation: { unitsConsumed: 100_000 } });
  const priceAt = async (fields: JsonObject, policies: JsonObject = {}) => {
    const ready = await prepareTransaction(rpc, { request: REQUEST, fields }, relayerAccount(policies), {
      committed: 0n,
    });
    if (ready.kind !== 'ready') throw new Error(ready.kind);
    const { price } = readComputeBudget(decodeMessage(Buffer.from(String(ready.fields['message']), 'base64')));
    return { price, next: renewedFields(ready.fields) };
  };
  const first = await priceAt({});
  const second = await priceAt(first.next);
  const third = await priceAt(second.next);
  t.strictSame([first.price, second.price, third.price], [undefined, 10_000n, 20_000n]);
  const capped = await priceAt(third.next, { max_allowed_fee_lamports: 6_000 });
  t.ok(capped.price !== undefined && capped.price < 10_000n, `${capped.price}`);
});

t.test('policies hold once more with what only the chain tells', async (t) => {
  const inner = { simulation: { logs: [`Program ${keyOf(9)} invoke [2]`] } };
  const budget = { simulation: { logs: ['Program ComputeBudget111111111111111111111111111111 invoke [1]'] } };
  const only = { allowed_programs: ['MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'] };
  t.match(await prepared(t, REQUEST, [inner], only), {
    kind: 'refused',
    reason: `${INVALID}Policy violation: Program ${keyOf(9)} not allowed`,
  });
  t.match(await prepared(t, REQUEST, [budget], only), { kind: 'ready' }, 'what the relayer adds is not the client’s');
  const cut = { simulation: { logs: ['Log truncated'] } };
  t.match(await prepared(t, REQUEST, [cut], only), {
    kind: 'refused',
    reason: /programs that it calls cannot be checked$/,
  });
  t.match(await prepared(t, REQUEST, [cut]), { kind: 'ready' });
  t.match(await prepared(t, REQUEST, [{}], { max_tx_data_size: 100 }), {
    kind: 'refused',
    reason: /Policy violation: Transaction size \d+ exceeds maximum allowed 100$/,
  });
  const source = Buffer.alloc(ACCOUNT_SIZE);
  source.fill(3, 0, 32).writeUInt8(1, 108);
  const accounts = { [keyOf(41)]: { owner: TOKEN_PROGRAM_ID.toBase58(), data: source } };
  const move = createTransferInstruction(new PublicKey(keyOf(41)), new PublicKey(keyOf(42)), USER.publicKey, 5n);
  const request = { transaction: built([move], { signers: [USER] }) };
  t.match(await prepared(t, request, [{ accounts }], { allowed_tokens: [{ mint: keyOf(4) }] }), {
    kind: 'refused',
    reason: `${INVALID}Policy violation: Token ${keyOf(3)} not allowed for transfers`,
  });
  t.match(await prepared(t, request, [{ accounts }], { allowed_tokens: [{ mint: keyOf(3) }] }), { kind: 'ready' });
});

t.test('accounts out of lookup tables are held against the policies', async (t) => {
  const [TABLE, STRANGER] = [keyOf(43), new PublicKey(keyOf(44))];
  const state = { deactivationSlot: 0n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0, addresses: [STRANGER] };
  const table = new AddressLookupTableAccount({ key: new PublicKey(TABLE), state });
  const named = memo('a');
  named.keys.push({ pubkey: STRANGER, isSigner: false, isWritable: true });
  const message = new TransactionMessage({
    payerKey: RELAYER.publicKey,
    recentBlockhash: keyOf(7),
    instructions: [named],
  }).compileToV0Message([table]);
  const transaction = Buffer.from(new VersionedTransaction(message).serialize()).toString('base64');
  const data = Buffer.concat([Buffer.alloc(56).fill(1, 0, 1), STRANGER.toBuffer()]);
  const node = { accounts: { [TABLE]: { owner: ADDRESS_LOOKUP_TABLE_PROGRAM, data } } };
  t.match(await prepared(t, { transaction }, [node]), { kind: 'ready' });
  t.match(await prepared(t, { transaction }, [node], { disallowed_accounts: [keyOf(44)] }), {
    kind: 'refused',
    reason: `${INVALID}Policy violation: Account ${keyOf(44)} is explicitly disallowed`,
  });
  t.match(await prepared(t, { transaction }), {
    kind: 'refused',
    reason: `${INVALID}Lookup table ${TABLE} does not exist`,
  });
});

t.test('what a trial shows to be taken beyond the fee is refused', async (t) => {
  const left = (lamports: number) => ({
    accounts: [{ lamports, owner: keyOf(0), executable: false, data: ['', 'base64'] }],
  });
  const node = (lamports: number) => ({ balance: 1_000_000_000, fee: 5_000, simulation: left(lamports) });
  for (const request of [REQUEST, GIVEN]) {
    t.match(await prepared(t, request, [node(999_995_000)]), { kind: 'ready' });
    t.match(await prepared(t, request, [node(999_994_999)]), {
      kind: 'refused',
      reason: /^Solana transaction validation error: Policy violation: It takes 5001 lamports/,
    });
  }
});

t.test('no fee beyond the cap, to the lamport', async (t) => {
  t.match(await prepared(t, GIVEN, [{ fee: 10_000 }], { max_allowed_fee_lamports: 10_000 }), { kind: 'ready' });
  t.match(await prepared(t, GIVEN, [{ fee: 10_001 }], { max_allowed_fee_lamports: 10_000 }), {
    kind: 'refused',
    reason: `${INVALID}Policy violation: Fee amount 10001 exceeds max allowed fee amount 10000`,
  });
  t.match(
    await prepared(t, GIVEN, [{ fee: null }]),
    { kind: 'ready', cost: 10_000n },
    'the formula where nobody tells',
  );
});

t.test('the account pays, keeps its minimum, and bears what is under way', async (t) => {
  const cases: [number, JsonObject, bigint, string?][] = [
    [10_005_000, {}, 0n],
    [10_004_999, {}, 0n, 'Required: 10005000, Available: 10004999, Fee: 5000, Min balance: 10000000'],
    [5_000, { min_balance: 0 }, 0n],
    [4_999, { min_balance: 0 }, 0n, 'Required: 5000, Available: 4999, Fee: 5000, Min balance: 0'],
    [10_000, { min_balance: 0 }, 5_000n],
    [9_999, { min_balance: 0 }, 5_000n, 'Required: 10000, Available: 9999, Fee: 5000, Min balance: 0, Under way: 5000'],
  ];
  for (const [balance, policies, committed, short] of cases) {
    const decided = await prepared(t, GIVEN, [{ balance, fee: 5_000 }], policies, committed);
    const reason = `Insufficient balance: Insufficient relayer balance. ${short}`;
    const wanted = { kind: 'parked', cause: 'balance', reason, retryInMs: 10_000 };
    if (short === undefined) t.match(decided, { kind: 'ready' });
    else t.strictSame(decided, wanted);
  }
});

t.test('one of two that is wrong stands in nobody’s way', async (t) => {
  const wrong: Nodes = [
    failing('BlockhashNotFound'),
    failing({ InstructionError: [0, 'InvalidArgument'] }),
    { valid: [] },
    { balance: 0 },
    { fee: 10 ** 9 },
    { instead: { simulateTransaction: { error: { code: -32_005, message: 'Node is behind by 9 slots' } } } },
    () => 'hang-up',
    () => ({ result: null }),
  ];
  for (const node of wrong) {
    const policies = { max_allowed_fee_lamports: 10_000 };
    t.match(await prepared(t, GIVEN, [node, {}], policies), { kind: 'ready', cost: 5_000n });
    if (typeof node !== 'function') t.match(await prepared(t, GIVEN, [{}, node], policies), { kind: 'ready' });
  }
  t.match(await prepared(t, GIVEN, [{ balance: 0 }, () => 'hang-up']), { kind: 'parked', cause: 'balance' });
  t.match(await prepared(t, GIVEN, [{ valid: [] }, { valid: [] }]), { kind: 'refused', end: 'expired' });
  await t.rejects(prepared(t, GIVEN, [() => 'hang-up']), { name: 'RpcError' });
});

t.test('what one node refuses while the other hangs waits, and is sent when that one can', async (t) => {
  const refusing = failing({ InstructionError: [0, 'InvalidArgument'] });
  const { rpc, doubles } = await openSolana(t, { latest: LATEST, ...refusing }, () => 'silence');
  const again = () => prepareTransaction(rpc, { request: GIVEN }, relayerAccount({}), { committed: 0n });
  t.match(await again(), { kind: 'parked', reason: /Simulation failed: .* \(by one endpoint/ });
  doubles[1]?.answer(solanaNode({ latest: LATEST }));
  t.match(await again(), { kind: 'ready' });
  doubles[1]?.answer(solanaNode({ latest: LATEST, ...refusing }));
  t.match(await again(), { kind: 'refused' }, 'both');
  doubles[1]?.answer(() => 'hang-up');
  // The client stops using the endpoint that fails. That does not count as a second opinion.
  for (let turn = 0; turn < 3; turn += 1) t.match(await again(), { kind: 'parked' });
});

t.test('what the policies forbid by themselves ends at once, whoever hangs', async (t) => {
  const { rpc, doubles } = await openSolana(t, { latest: LATEST }, () => 'silence');
  for (const request of [GIVEN, REQUEST]) {
    const forbidding = relayerAccount({ allowed_programs: [keyOf(9)] });
    const reason = /Policy violation: Program \w+ not allowed$/;
    t.match(await prepareTransaction(rpc, { request }, forbidding, { committed: 0n }), { kind: 'refused', reason });
  }
  t.strictSame(doubles[0]?.calls, [], 'nobody is asked');
});

t.test('what is signed for somebody else passes the same, as it is or not at all', async (t) => {
  const said = async (request: { transaction: string }, node: NodeWorld, policies: JsonObject = {}) => {
    const { rpc } = await openSolana(t, { latest: LATEST, ...node });
    return judgeForSigning(rpc, request.transaction, relayerAccount(policies));
  };
  const alone = { transaction: built([memo('a')]) };
  t.equal(await said(alone, {}), undefined);
  t.equal(await said({ transaction: built([memo('a', USER)]) }, {}), undefined, 'others sign after it');
  t.match(await said(alone, { valid: [] }), {
    kind: 'validation',
    reason: `Blockhash ${keyOf(7)} is no longer valid`,
  });
  t.match(await said(GIVEN, { valid: [] }), { kind: 'validation', reason: /^Blockhash expired/ });
  t.match(await said(alone, {}, { max_allowed_fee_lamports: 1 }), {
    kind: 'validation',
    reason: /^Solana transaction validation error: Policy violation: Fee amount/,
    detail: /^Policy violation: Fee amount/,
  });
  t.match(await said(alone, { balance: 0 }), { kind: 'funds', detail: /^Insufficient relayer balance/ });
  t.match(await said(alone, failing('BlockhashNotFound')), { kind: 'provider', reason: /^BlockhashNotFound/ });
});

t.test('draft', async (t) => {
  const USER = keypair(32);
  const LATEST = keyOf(6);
  const payer = RELAYER.publicKey.toBase58();

  async function draft(t: Test, request: SolanaRequest, node: NodeWorld = {}, policies: object = {}) {
    const { rpc, asked, doubles } = await openSolana(t, { latest: LATEST, ...node });
    const made = await rpc.onOne((read) => draftMessage(read, request, payer, readPolicy({ ...policies })));
    return { made, asked, calls: doubles.flatMap(({ calls }) => calls) };
  }

  function assertDrafted(made: Awaited<ReturnType<typeof draft>>['made']): asserts made is MessageDraft {
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
      requested: message,
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
    t.strictSame(made.requested, made.message);
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
    t.strictSame(encodeMessage(made.requested), bare.messageBytes);
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
    t.strictSame(full.made.message, full.made.requested);
    t.equal(full.made.tried, undefined);
    t.equal(full.asked('simulateTransaction'), 0);
    const narrow = await composed(t, [text(10)], { prices: [5] }, { max_tx_data_size: 200 });
    t.strictSame(narrow.made.message, narrow.made.requested, 'by the policy');
    const wide = await composed(t, [text(10)], { prices: [5] }, { max_tx_data_size: 300 });
    t.equal(wide.made.message.instructions.length, 3);
  });
});
