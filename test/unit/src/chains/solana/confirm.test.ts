// What a node shows decides the state that clients see, and whether a payment is sent again. So these tests try each
// lie and each delay of a node that could change that decision. inclusion/death.test.ts tests when an attempt is dead.

import { PublicKey } from '@solana/web3.js';
import t, { type Test } from 'tap';
import type { ObservedTransaction } from '../../../../../src/chains/chain-client.ts';
import { observeTransactions } from '../../../../../src/chains/solana/confirm.ts';
import { lastValidHeight } from '../../../../../src/chains/solana/inclusion/blockhash-lifetime.ts';
import { assertStatusesReach, findDeadAttempts } from '../../../../../src/chains/solana/inclusion/expiry.ts';
import { SYSTEM_PROGRAM } from '../../../../../src/chains/solana/programs.ts';
import { chainTip } from '../../../../../src/chains/solana/rpc-calls.ts';
import { readChainFields, type SolanaReceipt } from '../../../../../src/chains/solana/schema.ts';
import type { Attempt } from '../../../../../src/features/transactions/records/attempt.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import { openRpc } from '../../../../support/evm.ts';
import { answersByMethod, type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';
import {
  keyOf,
  type NodeAccount,
  type NodeStatus,
  type NodeWorld,
  openSolana,
} from '../../../../support/solana-node.ts';
import { fieldsOf, relayerAccount, storedAttempt, storedSolana } from '../../../../support/solana-relayer.ts';

const account = relayerAccount();

/** A submitted transaction with attempts of the given signatures. */
function entry(hashes: string[], over: Partial<Transaction> = {}): ObservedTransaction {
  const transaction = storedSolana({ hash: hashes.at(-1) ?? null, fields: fieldsOf(), ...over });
  const attempts = hashes.map((hash, index) => storedAttempt(hash, { ordinal: index + 1 }));
  return { transaction, attempts, account };
}

/** The same transaction after it was seen in a block. */
const mined = (receipt: SolanaReceipt, hashes = ['a']) =>
  entry(hashes, { status: 'mined', fields: fieldsOf({ receipt }) });

async function look(t: Test, nodes: (NodeWorld | DoubleHandler)[], entries: ObservedTransaction[]) {
  const { rpc, asked, doubles } = await openSolana(t, ...nodes);
  return {
    seen: await observeTransactions(rpc, entries),
    asked,
    doubles,
    again: () => observeTransactions(rpc, entries),
  };
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
  const seen = async (node: NodeWorld, of: ObservedTransaction) => (await look(t, [node], [of])).seen;
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
  const both: ObservedTransaction = { ...entry(['a']), attempts: [old, storedAttempt('a', { ordinal: 2 }), young] };
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

// A node that misstates how long a blockhash is valid can cause a second signature while the first can still land.
t.test('chain height', async (t) => {
  /**
   * The last valid height for a blockhash that the first node calls valid until `told`. The others are at these heights.
   */
  async function lastAmong(t: Test, told: bigint, ...others: (number | DoubleHandler)[]): Promise<bigint | string> {
    const handlers = [0, ...others].map((height) =>
      typeof height === 'function'
        ? height
        : answersByMethod({ getEpochInfo: { absoluteSlot: height + 5_000, blockHeight: height } }),
    );
    const doubles = await Promise.all(handlers.map((handler) => startRpcDouble(handler)));
    const rpc = openRpc(doubles.map(({ url }) => url));
    t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
    return await rpc.onOne(async (read) => {
      await read('getEpochInfo', [], (answer) => answer);
      return await lastValidHeight(rpc, read, told).catch(({ name, message }: Error) => `${name}: ${message}`);
    });
  }

  t.test('one node alone is believed', async (t) => {
    t.equal(await lastAmong(t, 10n ** 12n), 10n ** 12n);
  });

  t.test('others that are a little ahead bear out a later end, and none an earlier one', async (t) => {
    t.equal(await lastAmong(t, 1_150n, 1_003), 1_153n);
    t.equal(await lastAmong(t, 1_150n, 990), 1_150n);
    t.equal(await lastAmong(t, 1_150n, 2_000), 2_150n, 'the furthest that is still near');
  });

  t.test('who is far from every other one that answers is not believed', async (t) => {
    t.equal(await lastAmong(t, 1_150n, 2_001), 'EndpointUnfit: it is near height 1000, and others at 2001');
    t.equal(await lastAmong(t, 2_151n, 1_000), 'EndpointUnfit: it is near height 2001, and others at 1000');
    t.equal(await lastAmong(t, 1_150n, 10 ** 9, 1_001), 1_151n, 'one of several may be wrong');
  });

  t.test('silence denies nothing', async (t) => {
    t.equal(await lastAmong(t, 1_150n, () => ({ status: 503 })), 1_150n);
  });
});

// A transaction that counts as dead is signed again. If it counts as dead too early, a payment happens twice. So these
// tests try each lie, delay and memory gap of a node that could make a live one look dead.
t.test('death', async (t) => {
  const SIGNATURE = 'sig';

  /** An attempt that a block can include up to height 900, which is slot 1000 here, but not before slot 800. */
  const attempt = (over: Partial<Attempt> = {}) => storedAttempt(SIGNATURE, over);

  function seek(one: Attempt) {
    const fields = readChainFields(one.fields);
    if (fields === undefined) throw new TypeError('it is prepared');
    return { attempt: one, fields };
  }

  /**
   * A node whose final blocks are past the last one that could include the attempt, and that does not know the attempt.
   */
  const past = (over: NodeWorld = {}): NodeWorld => ({ slot: 1_040, final: 1_001, valid: [], ...over });
  const has = (confirmationStatus: 'processed' | 'confirmed' | 'finalized', err?: unknown) => ({
    statuses: { [SIGNATURE]: { slot: 900, confirmationStatus, err } },
  });

  /** Whether the attempt counts as dead by these nodes. The first node is the one that is read. */
  async function isDead(t: Test, nodes: (NodeWorld | DoubleHandler)[], one = attempt()): Promise<boolean> {
    const { rpc } = await openSolana(t, ...nodes);
    return rpc.onOne(async (read) => {
      const { dead } = await findDeadAttempts(rpc, read, await chainTip(read, 'finalized'), [seek(one)]);
      return dead.has(one);
    });
  }

  t.test('one node proves it by its height, its silence and its memory together', async (t) => {
    const cases: [string, NodeWorld, boolean][] = [
      ['all three', past(), true],
      ['its last block is just final', past({ final: 1_000 }), false],
      ['the next one is confirmed only', past({ slot: 1_003, final: 971 }), false],
      ['it is in a block that may vanish', past(has('processed')), false],
      ['it is in a block', past(has('confirmed')), false],
      ['it failed in a block', past(has('finalized', 'AccountInUse')), false],
      ['its history begins with the slot', past({ first: 800 }), true],
      ['its history begins later', past({ first: 801 }), false],
      ['its blockhash is still taken', past({ valid: [keyOf(7)] }), false],
    ];
    for (const [what, node, dead] of cases) t.equal(await isDead(t, [node]), dead, what);
  });

  t.test('statuses that do not go as far as what is final are another node’s', async (t) => {
    await t.rejects(isDead(t, [past({ statusSlot: 1_000 })]), {
      kind: 'malformed',
      message: /end at slot 1000, before 1001/,
    });
    t.ok(await isDead(t, [past({ statusSlot: 1_001 })]));
    t.ok(await isDead(t, [past({ statusSlot: 1_000 }), past(), past()]), 'others are read instead');
    t.throws(() => assertStatusesReach(4n, 5n), { name: 'EndpointUnfit', pauseMs: 0 });
    t.doesNotThrow(() => assertStatusesReach(5n, 5n));
  });

  t.test('of several a second one has to show it, and none deny it', async (t) => {
    const silent: DoubleHandler = () => 'hang-up';
    const cases: [string, (NodeWorld | DoubleHandler)[], boolean][] = [
      ['another shows it', [past()], true],
      ['another has it in a block', [past(has('confirmed'))], false],
      ['another has just taken it into one', [past(has('processed'))], false],
      ['one shows it, one has it', [past(), past(has('finalized'))], false],
      ['another lags', [past({ slot: 1_000, final: 968 })], false],
      ['another lags, one shows it', [past({ slot: 1_000, final: 968 }), past()], true],
      ['another forgot', [past({ first: 900 })], false],
      [
        'another has no history',
        [without('getSignatureStatuses', -32_011, 'Transaction history is not available')],
        false,
      ],
      ['another is silent', [silent], false],
      ['one is silent, one shows it', [silent, past()], true],
      ['another still takes its blockhash', [past({ valid: [keyOf(7)] })], false],
      ['another’s statuses are of another node', [past({ statusSlot: 990 })], false],
    ];
    for (const [what, others, dead] of cases) t.equal(await isDead(t, [past(), ...others]), dead, what);
  });

  /** A node past the last block that does not support this one method. */
  function without(method: string, code: number, message: string): NodeWorld {
    return past({ instead: { [method]: { error: { code, message } } } });
  }

  t.test('without its method for the history a node tells where its ledger begins, or why nothing ends', async (t) => {
    const lacks = (...methods: string[]) => {
      const missing = { error: { code: -32_601, message: 'Method not found' } };
      return past({ instead: Object.fromEntries(methods.map((method) => [method, missing])) });
    };
    t.ok(await isDead(t, [lacks('getFirstAvailableBlock')]));
    const neither = lacks('getFirstAvailableBlock', 'minimumLedgerSlot');
    const odd = past({ instead: { getFirstAvailableBlock: { result: 'soon' }, minimumLedgerSlot: { result: null } } });
    for (const [nodes, who] of [
      [[neither], 'the endpoint does not tell'],
      [[odd], 'the endpoint does not tell'],
      [[past({ first: 900 })], 'the endpoint does not tell'],
      [
        [without('getSignatureStatuses', -32_011, 'Transaction history is not available')],
        'the endpoint does not tell',
      ],
      [[neither, past()], 'too few endpoints tell'],
    ] as const) {
      const { rpc } = await openSolana(t, ...nodes);
      const one = attempt();
      const { dead, unproved } = await rpc.onOne(async (read) =>
        findDeadAttempts(rpc, read, await chainTip(read, 'finalized'), [seek(one)]),
      );
      t.notOk(dead.has(one));
      t.match(unproved.get(one), `Its time to be in a block is over, and ${who} of a history back to slot 800`);
    }
    for (const denying of [past(has('confirmed')), past({ valid: [keyOf(7)] }), past({ final: 1_000 })]) {
      const { rpc } = await openSolana(t, denying);
      const { unproved } = await rpc.onOne(async (read) =>
        findDeadAttempts(rpc, read, await chainTip(read, 'finalized'), [seek(attempt())]),
      );
      t.equal(unproved.size, 0);
    }
  });

  t.test('who shows it has the say also where the first that is read cannot tell', async (t) => {
    t.ok(await isDead(t, [past({ first: 900 }), past(), past()]));
    t.notOk(await isDead(t, [past({ first: 900 }), past()]), 'one is not two');
  });

  t.test('a node that lied about its last height cannot make it die early', async (t) => {
    const lied = attempt({ fields: fieldsOf({ last_valid_block_height: 1, slot: 0 }) });
    const young: NodeWorld = { slot: 900, valid: [keyOf(7)] };
    t.notOk(await isDead(t, [{ ...young, valid: [] }, young], lied), 'by its own word, and an honest one');
    t.notOk(await isDead(t, [young, { ...young, valid: [] }], lied));
    t.ok(await isDead(t, [past(), past()], lied), 'once it is true');
  });

  t.test('while its time is not over nothing else is asked', async (t) => {
    const { rpc, asked } = await openSolana(t, { slot: 1_000 }, { slot: 1_000 });
    await rpc.onOne(async (read) => {
      t.equal((await findDeadAttempts(rpc, read, await chainTip(read, 'finalized'), [seek(attempt())])).dead.size, 0);
    });
    t.equal(asked('getSignatureStatuses') + asked('getFirstAvailableBlock') + asked('isBlockhashValid'), 0);
  });

  t.test('many of one blockhash cost no more questions, and each is judged by itself', async (t) => {
    const statuses = { one: { slot: 900, confirmationStatus: 'finalized' } } as const;
    const { rpc, asked } = await openSolana(t, past({ statuses }));
    const others = fieldsOf({ last_valid_block_height: 5_000 });
    const attempts = [
      ...['one', 'two', 'three'].map((hash) => storedAttempt(hash)),
      storedAttempt('four', { fields: others }),
    ];
    const { dead } = await rpc.onOne(async (read) =>
      findDeadAttempts(rpc, read, await chainTip(read, 'finalized'), attempts.map(seek)),
    );
    t.strictSame(
      [...dead].map(({ hash }) => hash),
      ['two', 'three'],
    );
    t.equal(asked('isBlockhashValid'), 1);
    t.equal(asked('getSignatureStatuses'), 1);
  });

  const NONCE = keyOf(51);

  /** A nonce account that holds this value. */
  function nonce(value: string): NodeAccount {
    const data = Buffer.alloc(80);
    data.writeUInt32LE(1, 0);
    data.writeUInt32LE(1, 4);
    new PublicKey(value).toBuffer().copy(data, 40);
    return { owner: SYSTEM_PROGRAM, data };
  }

  t.test('under a durable nonce it dies with the nonce’s final value, and of no age', async (t) => {
    const under = attempt({
      fields: fieldsOf({ last_valid_block_height: null, nonce_account: NONCE }),
      anchor: { kind: 'text', text: `${NONCE}:${keyOf(7)}` },
    });
    const at = (value: string, over: NodeWorld = {}): NodeWorld => ({
      ...past(),
      accounts: { [NONCE]: nonce(value) },
      ...over,
    });
    const confirmedOnly: NodeWorld = {
      ...past(),
      accounts: (commitment) => ({ [NONCE]: nonce(keyOf(commitment === 'finalized' ? 7 : 8)) }),
    };
    const cases: [string, NodeWorld[], boolean][] = [
      ['it has its value, however old it is', [at(keyOf(7), { slot: 10 ** 6, final: 10 ** 6 - 32 })], false],
      ['it has another', [at(keyOf(8))], true],
      ['another is confirmed only', [confirmedOnly], false],
      ['the account is gone', [past()], false],
      [
        'the account is none',
        [at(keyOf(8), { accounts: { [NONCE]: { ...nonce(keyOf(8)), owner: keyOf(2) } } })],
        false,
      ],
      ['it was this very one that moved it', [at(keyOf(8), has('finalized'))], false],
      ['the history is too short', [at(keyOf(8), { first: 801 })], false],
      ['a second one agrees', [at(keyOf(8)), at(keyOf(8))], true],
      ['a second one has its value', [at(keyOf(8)), at(keyOf(7))], false],
      ['a second one has it in a block', [at(keyOf(8)), at(keyOf(8), has('confirmed'))], false],
      ['a second one has not the account', [at(keyOf(8)), past()], false],
    ];
    for (const [what, nodes, dead] of cases) t.equal(await isDead(t, nodes, under), dead, what);
    const later = { context: { slot: 1_200 }, value: [accountAnswer(nonce(keyOf(8)))] };
    await t.rejects(
      isDead(t, [at(keyOf(8), { instead: { getMultipleAccounts: { result: later } } })], under),
      { kind: 'malformed', message: /before 1200/ },
      'a nonce that moved after the statuses',
    );
  });

  const accountAnswer = ({ owner, data }: NodeAccount) => ({
    lamports: 1,
    owner,
    executable: false,
    data: [data.toString('base64'), 'base64'],
  });
});
