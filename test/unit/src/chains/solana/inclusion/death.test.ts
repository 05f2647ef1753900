// A transaction that counts as dead is signed again. If it counts as dead too early, a payment happens twice. So these
// tests try each lie, delay and memory gap of a node that could make a live one look dead.
import { PublicKey } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { assertReach, deadAmong } from '../../../../../../src/chains/solana/inclusion/death.ts';
import { SYSTEM_PROGRAM } from '../../../../../../src/chains/solana/programs.ts';
import { standing } from '../../../../../../src/chains/solana/provider.ts';
import { readFields } from '../../../../../../src/chains/solana/schema.ts';
import type { Attempt } from '../../../../../../src/domain/transaction/attempt.ts';
import type { DoubleHandler } from '../../../../../support/rpc-double.ts';
import { keyOf, type NodeAccount, type NodeWorld, openSolana } from '../../../../../support/solana-node.ts';
import { fieldsOf, storedAttempt } from '../../../../../support/solana-relayer.ts';

const SIGNATURE = 'sig';

/** An attempt that a block can include up to height 900, which is slot 1000 here, but not before slot 800. */
const attempt = (over: Partial<Attempt> = {}) => storedAttempt(SIGNATURE, over);

function seek(one: Attempt) {
  const fields = readFields(one.fields);
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
    const { dead } = await deadAmong(rpc, read, await standing(read, 'finalized'), [seek(one)]);
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
  t.throws(() => assertReach(4n, 5n), { name: 'EndpointUnfit', pauseMs: 0 });
  t.doesNotThrow(() => assertReach(5n, 5n));
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
    [[without('getSignatureStatuses', -32_011, 'Transaction history is not available')], 'the endpoint does not tell'],
    [[neither, past()], 'too few endpoints tell'],
  ] as const) {
    const { rpc } = await openSolana(t, ...nodes);
    const one = attempt();
    const { dead, unproved } = await rpc.onOne(async (read) =>
      deadAmong(rpc, read, await standing(read, 'finalized'), [seek(one)]),
    );
    t.notOk(dead.has(one));
    t.match(unproved.get(one), `Its time to be in a block is over, and ${who} of a history back to slot 800`);
  }
  for (const denying of [past(has('confirmed')), past({ valid: [keyOf(7)] }), past({ final: 1_000 })]) {
    const { rpc } = await openSolana(t, denying);
    const { unproved } = await rpc.onOne(async (read) =>
      deadAmong(rpc, read, await standing(read, 'finalized'), [seek(attempt())]),
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
    t.equal((await deadAmong(rpc, read, await standing(read, 'finalized'), [seek(attempt())])).dead.size, 0);
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
    deadAmong(rpc, read, await standing(read, 'finalized'), attempts.map(seek)),
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
    ['the account is none', [at(keyOf(8), { accounts: { [NONCE]: { ...nonce(keyOf(8)), owner: keyOf(2) } } })], false],
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
