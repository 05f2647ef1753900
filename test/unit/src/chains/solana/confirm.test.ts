// What a node shows decides the state that clients see, and whether a payment is sent again. So these tests try each
// lie and each delay of a node that could change that decision. inclusion/death.test.ts tests when an attempt is dead.
import t, { type Test } from 'tap';
import type { ObservedEntry } from '../../../../../src/chains/chain-client.ts';
import { observe } from '../../../../../src/chains/solana/confirm.ts';
import type { SolanaReceipt } from '../../../../../src/chains/solana/schema.ts';
import type { Transaction } from '../../../../../src/domain/transaction/transaction.ts';
import type { DoubleHandler } from '../../../../support/rpc-double.ts';
import { keyOf, type NodeStatus, type NodeWorld, openSolana } from '../../../../support/solana-node.ts';
import { fieldsOf, relayerAccount, storedAttempt, storedSolana } from '../../../../support/solana-relayer.ts';

const account = relayerAccount();

/** A submitted transaction with attempts of the given signatures. */
function entry(hashes: string[], over: Partial<Transaction> = {}): ObservedEntry {
  const transaction = storedSolana({ hash: hashes.at(-1) ?? null, fields: fieldsOf(), ...over });
  const attempts = hashes.map((hash, index) => storedAttempt(hash, { ordinal: index + 1 }));
  return { transaction, attempts, account };
}

/** The same transaction after it was seen in a block. */
const mined = (receipt: SolanaReceipt, hashes = ['a']) =>
  entry(hashes, { status: 'mined', fields: fieldsOf({ receipt }) });

async function look(t: Test, nodes: (NodeWorld | DoubleHandler)[], entries: ObservedEntry[]) {
  const { rpc, asked, doubles } = await openSolana(t, ...nodes);
  return { seen: await observe(rpc, entries), asked, doubles, again: () => observe(rpc, entries) };
}

const status = (confirmationStatus: NodeStatus['confirmationStatus'], over: Partial<NodeStatus> = {}): NodeStatus => ({
  slot: 900,
  confirmationStatus,
  ...over,
});
const shows = (one: NodeStatus, over: NodeWorld = {}): NodeWorld => ({ statuses: { a: one }, ...over });

t.test('processed is open, confirmed is in a block, finalized is final', async (t) => {
  const processed = await look(t, [shows(status('processed'))], [entry(['a'])]);
  t.strictSame(processed.seen, [{ kind: 'open' }]);
  for (const [commitment, final] of [
    ['confirmed', false],
    ['finalized', true],
  ] as const) {
    const { seen } = await look(t, [shows(status(commitment))], [entry(['a'])]);
    const receipt = { slot: 900, succeeded: true };
    t.strictSame(seen, [
      { kind: 'included', hash: 'a', succeeded: true, final, reason: null, fields: { ...fieldsOf(), receipt } },
    ]);
  }
  t.strictSame((await look(t, [{}], [entry(['a'])])).seen, [{ kind: 'open' }]);
});

t.test('why a transaction does not end is said, where only a history could tell', async (t) => {
  const missing = { error: { code: -32_601, message: 'Method not found' } };
  const over = { slot: 1_040, final: 1_001, valid: [] };
  const node = { ...over, instead: { getFirstAvailableBlock: missing, minimumLedgerSlot: missing } };
  const { seen } = await look(t, [node], [entry(['a']), entry([])]);
  t.match(seen, [
    { kind: 'open', reason: /the endpoint does not tell of a history back to slot 800/ },
    { kind: 'open' },
  ]);
  t.match((await look(t, [over], [entry(['a'])])).seen, [{ kind: 'open', dead: [1] }]);
});

t.test('any attempt counts, each entry for itself, and all cost one question', async (t) => {
  const entries = [entry(['x', 'a', 'y']), entry(['z']), entry(['b'])];
  const statuses = { a: status('finalized'), b: status('confirmed') };
  const { seen, asked } = await look(t, [{ statuses }], entries);
  t.match(seen, [{ kind: 'included', hash: 'a', final: true }, { kind: 'open' }, { kind: 'included', hash: 'b' }]);
  t.equal(asked('getSignatureStatuses'), 1);
  t.equal(asked('getEpochInfo'), 1);
});

t.test('where nothing was signed nothing is asked', async (t) => {
  const { seen, doubles } = await look(t, [{}], [entry([]), entry([])]);
  t.strictSame(seen, [{ kind: 'open' }, { kind: 'open' }]);
  t.equal(doubles[0]?.calls.length, 0);
  const unprepared = { ...entry(['a']), attempts: [storedAttempt('a', { fields: {} })] };
  await t.rejects(look(t, [{}], [unprepared]), TypeError);
});

const ERROR = { InstructionError: [0, { Custom: 6_000 }] };
const logs = ['Program log: Instruction: Go', 'Program log: went wrong'];
const landed = (fee = 5_000) => ({ a: { slot: 900, meta: { err: ERROR, fee, logMessages: logs } } });

t.test('a failure carries its reason, its logs and its fee', async (t) => {
  const failed = shows(status('confirmed', { err: ERROR }), { landed: landed() });
  const { seen } = await look(t, [failed], [entry(['a'])]);
  const reason =
    'Instruction 1 (program MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr) failed: custom program error 0x1770 (6000), log: went wrong';
  t.match(seen, [
    {
      kind: 'included',
      succeeded: false,
      final: false,
      reason,
      fields: { receipt: { slot: 900, succeeded: false, fee: 5_000, logs, reason } },
    },
  ]);
  const errors = [{ code: 6_000, name: 'Closed', msg: 'The shop is closed' }];
  const told = await look(t, [failed], [entry(['a'], { request: { transaction: 'AQAB', errors } })]);
  t.match(told.seen, [{ reason: /failed: Closed \(6000\): The shop is closed$/ }]);
});

t.test('a failure is one also where nobody tells more of it, and more is asked for later', async (t) => {
  for (const instead of [
    { result: null },
    { error: { code: -32_011, message: 'no history' } },
    { result: 'nonsense' },
  ]) {
    const node = shows(status('finalized', { err: ERROR }), { instead: { getTransaction: instead } });
    const { seen } = await look(t, [node], [entry(['a'])]);
    t.match(seen, [{ kind: 'included', succeeded: false, final: true, reason: /custom program error 0x1770/ }]);
    const [first] = seen;
    t.ok(first?.kind === 'included' && !('fee' in (first.fields['receipt'] as object)));
  }
  const poor = mined({ slot: 900, succeeded: false, logs: [], reason: 'unknown' });
  const { seen } = await look(t, [shows(status('finalized', { err: ERROR }), { landed: landed() })], [poor]);
  t.match(seen, [{ reason: /went wrong/, fields: { receipt: { fee: 5_000, logs } } }]);
});

t.test('of many logs the last are kept', async (t) => {
  const many = Array.from({ length: 200 }, (_, index) => `Program log: ${index}`);
  const whole = { a: { slot: 900, meta: { err: ERROR, fee: 5_000, logMessages: many } } };
  const { seen } = await look(t, [shows(status('finalized', { err: ERROR }), { landed: whole })], [entry(['a'])]);
  t.match(seen, [{ fields: { receipt: { logs: many.slice(-50) } } }]);
});

t.test('what is known of a failure is not asked for again, unless another tells of another one', async (t) => {
  const receipt = { slot: 900, succeeded: false, fee: 7_000, logs: ['known'], reason: 'known' };
  const failing = shows(status('finalized', { err: ERROR }), { landed: landed() });
  const same = await look(t, [failing], [mined(receipt)]);
  t.match(same.seen, [{ reason: 'known', final: true, fields: { receipt } }]);
  t.equal(same.asked('getTransaction'), 0);
  for (const other of [mined({ ...receipt, slot: 899 }), mined(receipt, ['b', 'a', 'c'])]) {
    t.match((await look(t, [failing], [other])).seen, [{ hash: 'a', reason: /went wrong/ }]);
  }
  const lied = await look(t, [shows(status('finalized'))], [mined(receipt)]);
  t.match(lied.seen, [
    { succeeded: true, final: true, reason: null, fields: { receipt: { slot: 900, succeeded: true } } },
  ]);
  const denied = await look(t, [failing], [mined({ slot: 900, succeeded: true })]);
  t.match(denied.seen, [{ succeeded: false, reason: /went wrong/ }]);
});

/** The transaction as a node returns it. */
const LANDED = { slot: 900, meta: { err: null, fee: 5_000, logMessages: [] } };

t.test('finalized is final unless another endpoint denies it', async (t) => {
  const final = shows(status('finalized'), { landed: { a: LANDED } });
  const silent: DoubleHandler = () => 'hang-up';
  const cases: [string, (NodeWorld | DoubleHandler)[], boolean][] = [
    ['another shows the same', [final], true],
    ['another has it confirmed', [shows(status('confirmed'))], true],
    ['another is past the slot and has it not', [{}], false],
    ['one denies it, one shows it', [{}, final], true],
    ['another has it in another slot', [shows(status('finalized', { slot: 901 }))], false],
    ['another says that it failed', [shows(status('finalized', { err: ERROR }))], false],
    ['another has not come that far', [{ slot: 920 }], true],
    ['another has forgotten the slot', [{ first: 901 }], true],
    [
      'another has no history',
      [{ instead: { getSignatureStatuses: { error: { code: -32_011, message: '' } } } }],
      true,
    ],
    ['another’s statuses are of another node', [{ statusSlot: 900 }], true],
    ['another is silent', [silent], true],
    ['another talks nonsense', [{ instead: { getSignatureStatuses: { result: [] } } }], true],
  ];
  for (const [what, others, isFinal] of cases) {
    const { seen } = await look(t, [final, ...others], [entry(['a'])]);
    t.match(seen, [{ kind: 'included', hash: 'a', succeeded: true, final: isFinal }], what);
  }
  for (const [what, landed, isFinal] of [
    ['has no such transaction', null, false],
    ['has it in another slot', { ...LANDED, slot: 901 }, false],
    ['has it as one that failed', { ...LANDED, meta: { ...LANDED.meta, err: ERROR } }, false],
    ['keeps no transactions', { code: -32_011, message: '' }, true],
    ['does not tell now', { code: -32_603, message: '' }, false],
  ] as const) {
    const told = landed !== null && 'code' in landed ? { error: landed } : { result: landed };
    const node = shows(status('finalized'), { instead: { getTransaction: told } });
    const { seen } = await look(t, [node, silent], [entry(['a'])]);
    t.match(seen, [{ kind: 'included', final: isFinal }], `another is silent, and the node ${what}`);
  }
  const { doubles } = await look(t, [shows(status('confirmed')), {}], [entry(['a'])]);
  t.equal(doubles[1]?.calls.length, 0, 'before that nobody else is asked');
});

t.test('a node that cannot tell loses its turn', async (t) => {
  const final = shows(status('finalized'), { landed: { a: LANDED } });
  for (const first of [
    shows(status('finalized'), { statusSlot: 900 }),
    { instead: { getSignatureStatuses: { error: { code: -32_603, message: 'no time' } } } },
    { instead: { getEpochInfo: { result: null } } },
    (() => ({ status: 503 })) satisfies DoubleHandler,
  ] as (NodeWorld | DoubleHandler)[]) {
    t.match((await look(t, [first, final], [entry(['a'])])).seen, [{ kind: 'included', final: true }]);
    await t.rejects(look(t, [first], [entry(['a'])]), { name: 'RpcError' });
  }
});

t.test('what was in a block stays so by a node that has not come that far, and only by one', async (t) => {
  const receipt = { slot: 999, succeeded: false, fee: 7_000, logs: [], reason: 'known' };
  const seen = async (node: NodeWorld, of: ObservedEntry) => (await look(t, [node], [of])).seen;
  const before = mined(receipt);
  t.strictSame(await seen({ slot: 998 }, before), [
    {
      kind: 'included',
      hash: 'a',
      succeeded: false,
      final: false,
      reason: 'known',
      fields: before.transaction.fields,
    },
  ]);
  const { reason: _, ...untold } = receipt;
  t.match(await seen({ slot: 998 }, mined(untold)), [{ reason: 'failed on chain' }]);
  t.match(await seen({ slot: 998 }, mined({ slot: 999, succeeded: true })), [{ succeeded: true, reason: null }]);
  t.strictSame(await seen({ slot: 999 }, before), [{ kind: 'open' }], 'a fork took it back');
  t.strictSame(
    await seen({ slot: 998 }, entry(['a'], { fields: fieldsOf({ receipt }) })),
    [{ kind: 'open' }],
    'what a fork took back before stays taken back',
  );
});

t.test('a processed block counts where it was confirmed before', async (t) => {
  const receipt = { slot: 900, succeeded: true };
  t.match((await look(t, [shows(status('processed'))], [mined(receipt)])).seen, [{ kind: 'included', final: false }]);
  const moved = await look(t, [shows(status('processed', { slot: 901 }))], [mined(receipt)]);
  t.strictSame(moved.seen, [{ kind: 'open' }]);
});

/** A node that is past the last block that could include the attempt. */
const past: NodeWorld = { slot: 1_040, final: 1_001, valid: [] };

t.test('the dead are told by their ordinals, and those that were dead before are not asked about', async (t) => {
  const young = storedAttempt('young', { ordinal: 3, fields: fieldsOf({ last_valid_block_height: 5_000 }) });
  const old = storedAttempt('old', { ordinal: 1, deadAt: 5 });
  const both: ObservedEntry = { ...entry(['a']), attempts: [old, storedAttempt('a', { ordinal: 2 }), young] };
  const { seen, doubles } = await look(t, [past], [both]);
  t.strictSame(seen, [{ kind: 'open', dead: [2] }]);
  const proofs = doubles[0]?.calls
    .filter(({ method }) => method === 'getSignatureStatuses')
    .map(({ params }) => params[0]);
  t.strictSame(proofs, [['old', 'a', 'young'], ['a']], 'a status of the dead would still be seen');
  const late = await look(
    t,
    [shows(status('confirmed'), past)],
    [{ ...both, attempts: [storedAttempt('a', { deadAt: 5 })] }],
  );
  t.match(late.seen, [{ kind: 'included', hash: 'a' }]);
});

t.test('a block that was never to come holds nothing up', async (t) => {
  const lied = mined({ slot: 2 ** 40, succeeded: true });
  t.strictSame((await look(t, [past, past], [lied])).seen, [{ kind: 'open', dead: [1] }]);
  t.match((await look(t, [past, { ...past, first: 900 }], [lied])).seen, [{ kind: 'included', final: false }]);
});

t.test('a nonce that somebody else advanced ends all that was under it', async (t) => {
  const NONCE = keyOf(51);
  const fields = fieldsOf({ last_valid_block_height: null, nonce_account: NONCE });
  const under = storedAttempt('a', { fields, anchor: { kind: 'text', text: `${NONCE}:${keyOf(7)}` } });
  const data = Buffer.alloc(80);
  data.writeUInt32LE(1, 4);
  data.fill(8, 40, 72);
  const node: NodeWorld = { ...past, accounts: { [NONCE]: { owner: '1'.repeat(32), data } } };
  const { seen } = await look(t, [node], [{ ...entry(['a']), attempts: [under] }]);
  const reason = `Nonce account ${NONCE} was advanced by another transaction`;
  t.strictSame(seen, [{ kind: 'dead', anchor: 'used', reason }]);
  const open = storedAttempt('b', { ordinal: 2, fields: fieldsOf({ last_valid_block_height: 5_000 }) });
  const partly = await look(t, [node], [{ ...entry(['a']), attempts: [under, open] }]);
  t.strictSame(partly.seen, [{ kind: 'open', dead: [1] }]);
});
