// What passes here is signed and paid for. So each refusal and each reason to wait has a case, and so has each lie of
// one node of two.
import { ACCOUNT_SIZE, createTransferInstruction, TOKEN_PROGRAM_ID } from '@solana/spl-token';
import {
  AddressLookupTableAccount,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import t, { type Test } from 'tap';
import { decodeMessage } from '../../../../../src/chains/solana/message/compiled-message.ts';
import { readComputeBudget } from '../../../../../src/chains/solana/message/compute-budget.ts';
import { decodeTransaction } from '../../../../../src/chains/solana/message/transaction.ts';
import { judge, prepare } from '../../../../../src/chains/solana/prepare.ts';
import { ADDRESS_LOOKUP_TABLE_PROGRAM } from '../../../../../src/chains/solana/programs.ts';
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
  return prepare(rpc, { request }, relayerAccount(policies), { committed });
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
      prepare(rpc, { request, createdAt: moment }, relayerAccount(), { committed: 0n }),
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
    const ready = await prepare(rpc, { request: REQUEST, fields }, relayerAccount(policies), { committed: 0n });
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
  const again = () => prepare(rpc, { request: GIVEN }, relayerAccount({}), { committed: 0n });
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
    t.match(await prepare(rpc, { request }, forbidding, { committed: 0n }), { kind: 'refused', reason });
  }
  t.strictSame(doubles[0]?.calls, [], 'nobody is asked');
});

t.test('what is signed for somebody else passes the same, as it is or not at all', async (t) => {
  const said = async (request: { transaction: string }, node: NodeWorld, policies: JsonObject = {}) => {
    const { rpc } = await openSolana(t, { latest: LATEST, ...node });
    return judge(rpc, request.transaction, relayerAccount(policies));
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
