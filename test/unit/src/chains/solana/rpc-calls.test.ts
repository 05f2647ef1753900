// These answers decide about money. So an answer that no honest node gives is a failure and is never used.
import t from 'tap';
import * as provider from '../../../../../src/chains/solana/rpc-calls.ts';
import type { Json } from '../../../../../src/domain/json/json.ts';
import type { ReadFromEndpoint } from '../../../../../src/egress/rpc/rpc-client.ts';
import { keyOf, openSolana } from '../../../../support/solana-node.ts';

/** A node that answers every call from `answer`, and records the calls. */
function answering(answer: Json | ((params: Json[]) => Json)) {
  const asked: [string, Json][] = [];
  const read: ReadFromEndpoint = async (method, params, parse) => {
    asked.push([method, params]);
    return parse(typeof answer === 'function' ? answer(params as Json[]) : answer);
  };
  return { read, asked };
}

const context = { apiVersion: '2.3.0', slot: 77 };
const KEY = keyOf(9);
const CONFIRMED = { commitment: 'confirmed' };

t.test('figures and flags as nodes give them', async (t) => {
  const cases: [(read: ReadFromEndpoint) => Promise<unknown>, string, Json[], Json, unknown][] = [
    [(read) => provider.getBalance(read, KEY), 'getBalance', [KEY, CONFIRMED], { context, value: 5 }, 5n],
    [
      (read) => provider.latestBlockhash(read),
      'getLatestBlockhash',
      [CONFIRMED],
      { context, value: { blockhash: KEY, lastValidBlockHeight: 9 } },
      { blockhash: KEY, lastValidBlockHeight: 9n, slot: 77n },
    ],
    [
      (read) => provider.isBlockhashValid(read, KEY, 'processed'),
      'isBlockhashValid',
      [KEY, { commitment: 'processed' }],
      { context, value: true },
      true,
    ],
    [
      (read) => provider.chainTip(read, 'finalized'),
      'getEpochInfo',
      [{ commitment: 'finalized' }],
      { absoluteSlot: 12, blockHeight: 10, epoch: 0, slotIndex: 12, slotsInEpoch: 432_000, transactionCount: null },
      { slot: 12n, height: 10n },
    ],
    [(read) => provider.blockTime(read, 8n), 'getBlockTime', [8], 1_700_000_000, 1_700_000_000_000],
    [(read) => provider.blockTime(read, 8n), 'getBlockTime', [8], null, null],
    [(read) => provider.firstAvailableBlock(read), 'getFirstAvailableBlock', [], 3, 3n],
    [
      (read) => provider.getMessageFee(read, 'AQ=='),
      'getFeeForMessage',
      ['AQ==', CONFIRMED],
      { context, value: 5_000 },
      5_000n,
    ],
    [
      (read) => provider.getMessageFee(read, 'AQ=='),
      'getFeeForMessage',
      ['AQ==', CONFIRMED],
      { context, value: null },
      undefined,
    ],
    [
      (read) => provider.recentPrices(read, [KEY]),
      'getRecentPrioritizationFees',
      [[KEY]],
      [{ slot: 1, prioritizationFee: 7 }],
      [7n],
    ],
    [(read) => provider.recentPrices(read, []), 'getRecentPrioritizationFees', [[]], [], []],
    [
      (read) => provider.getRentExemption(read, 165),
      'getMinimumBalanceForRentExemption',
      [165, CONFIRMED],
      2_039_280,
      2_039_280n,
    ],
  ];
  for (const [ask, method, params, answer, meant] of cases) {
    const { read, asked } = answering(answer);
    t.strictSame(await ask(read), meant, method);
    t.strictSame(asked, [[method, params]]);
  }
});

const finalized = { slot: 5, confirmations: null, err: null, status: { Ok: null }, confirmationStatus: 'finalized' };
const ERROR = { InstructionError: [0, { Custom: 1 }] };

t.test('statuses in the order of the signatures', async (t) => {
  const value = [null, finalized, { ...finalized, err: ERROR, confirmations: 3, confirmationStatus: 'confirmed' }];
  const { read, asked } = answering({ context, value });
  t.strictSame(await provider.signatureStatuses(read, ['a', 'b', 'c']), {
    slot: 77n,
    statuses: [
      null,
      { slot: 5n, commitment: 'finalized', error: null },
      { slot: 5n, commitment: 'confirmed', error: ERROR },
    ],
  });
  t.strictSame(asked, [['getSignatureStatuses', [['a', 'b', 'c'], { searchTransactionHistory: true }]]]);
  const { confirmationStatus: _, ...old } = finalized;
  const before = answering({ context, value: [old, { ...old, confirmations: 3 }] });
  t.match(
    (await provider.signatureStatuses(before.read, ['a', 'b'])).statuses,
    [{ commitment: 'finalized' }, { commitment: 'processed' }],
    'nodes before 1.5',
  );
});

t.test('many are asked for in parts, and the slot is the lowest of them', async (t) => {
  let slot = 90;
  const { read, asked } = answering(([part]) => ({
    context: { slot: (slot -= 1) },
    value: (part as Json[]).map(() => null),
  }));
  const told = await provider.signatureStatuses(read, Array<string>(513).fill('a'));
  t.strictSame([told.slot, told.statuses.length, asked.length], [87n, 513, 3]);
  const accounts = answering(([part]) => ({ context, value: (part as Json[]).map(() => null) }));
  t.equal((await provider.getAccounts(accounts.read, Array<string>(201).fill(KEY))).length, 201);
  t.equal(accounts.asked.length, 3);
  const prices = answering([]);
  await provider.recentPrices(prices.read, Array<string>(200).fill(KEY));
  t.strictSame(prices.asked[0]?.[1], [Array<string>(128).fill(KEY)], 'more a node does not take');
});

const account = { lamports: 1, owner: KEY, executable: false, rentEpoch: 2 ** 64, space: 2, data: ['AQI=', 'base64'] };

t.test('accounts with their bytes', async (t) => {
  const { read, asked } = answering({ context, value: [null, account] });
  const there = { lamports: 1n, owner: KEY, isExecutable: false, data: Buffer.from([1, 2]) };
  t.strictSame(await provider.getAccountsWithSlot(read, ['a', 'b'], 'finalized'), {
    slot: 77n,
    accounts: [null, there],
  });
  t.strictSame(await provider.getAccounts(read, ['a', 'b']), [null, there]);
  t.match(asked[1], ['getMultipleAccounts', [['a', 'b'], { encoding: 'base64', commitment: 'confirmed' }]]);
});

t.test('a trial tells how it went, what it used and whom it called', async (t) => {
  const logs = [
    `Program ${KEY} invoke [1]`,
    'Program log: Program 11111111111111111111111111111111 invoke [1]',
    `Program ${keyOf(8)} invoke [2]`,
    `Program ${keyOf(8)} success`,
    `Program ${KEY} invoke [1]`,
  ];
  const value = { err: ERROR, logs, unitsConsumed: 450, accounts: null, returnData: null };
  const { read, asked } = answering({ context, value });
  const asTold = { error: ERROR, logs, used: 450n, programs: [KEY, keyOf(8)], accounts: [] };
  t.strictSame(await provider.simulateTransaction(read, 'AQ==', { replacesBlockhash: true }), asTold);
  t.match(asked, [
    [
      'simulateTransaction',
      ['AQ==', { encoding: 'base64', sigVerify: false, replaceRecentBlockhash: true, ...CONFIRMED }],
    ],
  ]);
  const cut = answering({ context, value: { ...value, logs: [...logs, 'Log truncated'] } });
  t.match(await provider.simulateTransaction(cut.read, 'AQ==', { replacesBlockhash: false }), { programs: null });
  const bare = answering({ context, value: { err: 'AccountNotFound', logs: null } });
  t.strictSame(await provider.simulateTransaction(bare.read, 'AQ==', { replacesBlockhash: false }), {
    error: 'AccountNotFound',
    logs: [],
    used: null,
    programs: [],
    accounts: [],
  });
});

t.test('what is in a block tells its fee and its logs', async (t) => {
  const meta = { err: null, fee: 5_000, logMessages: ['one'] };
  const { read, asked } = answering({ slot: 5, transaction: ['AQ==', 'base64'], meta, blockTime: null });
  t.strictSame(await provider.getTransaction(read, 'sig'), { slot: 5n, fee: 5_000n, logs: ['one'], error: null });
  t.match(asked, [
    ['getTransaction', ['sig', { encoding: 'base64', maxSupportedTransactionVersion: 0, ...CONFIRMED }]],
  ]);
  t.equal(await provider.getTransaction(answering(null).read, 'sig'), null);
  const failed = answering({ slot: 5, meta: { ...meta, err: 'AccountInUse' } });
  t.match(await provider.getTransaction(failed.read, 'sig', 'finalized'), { error: 'AccountInUse' });
  t.match(failed.asked, [['getTransaction', ['sig', { commitment: 'finalized' }]]]);
  const silent = answering({ slot: 5, meta: { ...meta, logMessages: null } });
  t.match(await provider.getTransaction(silent.read, 'sig'), { logs: [] });
});

/** Values that are not a valid answer to any method. */
const NONSENSE: Json[] = [null, true, -1, 1.5, '5', 'x', [], [1], {}, { value: {} }, { value: 'x' }, { result: 5 }];

t.test('what is no answer is a fault', async (t) => {
  const asks: [string, (read: ReadFromEndpoint) => Promise<unknown>, Json[]][] = [
    [
      'balance',
      (read) => provider.getBalance(read, KEY),
      [{ value: -1 }, { value: 1.5 }, { value: '5' }, { value: null }],
    ],
    [
      'blockhash',
      (read) => provider.latestBlockhash(read),
      [
        { context, value: { blockhash: 'short', lastValidBlockHeight: 9 } },
        { context, value: { blockhash: `${KEY}1`, lastValidBlockHeight: 9 } },
        { context, value: { blockhash: KEY, lastValidBlockHeight: null } },
        { context: {}, value: { blockhash: KEY, lastValidBlockHeight: 9 } },
        { value: { blockhash: KEY, lastValidBlockHeight: 9 } },
      ],
    ],
    ['validity', (read) => provider.isBlockhashValid(read, KEY, 'confirmed'), [{ value: 1 }, { value: null }]],
    [
      'standing',
      (read) => provider.chainTip(read, 'finalized'),
      [{ absoluteSlot: 1 }, { blockHeight: 1 }, { absoluteSlot: 1, blockHeight: -1 }],
    ],
    [
      'statuses',
      (read) => provider.signatureStatuses(read, ['a']),
      [
        { context, value: null },
        { context, value: [] },
        { context, value: [null, null] },
        { context: null, value: [null] },
        { value: [null] },
        { context, value: ['finalized'] },
        { context, value: [{ ...finalized, slot: null }] },
        { context, value: [{ ...finalized, confirmationStatus: 'rooted' }] },
        { context, value: [{ ...finalized, confirmationStatus: 'final' }] },
        { context, value: [{ ...finalized, err: false }] },
        { context, value: [{ ...finalized, err: [ERROR] }] },
        { context, value: [{ slot: 5, confirmations: null, confirmationStatus: 'finalized' }] },
      ],
    ],
    ['fee', (read) => provider.getMessageFee(read, 'AQ=='), [{ context }, { context, value: '5000' }]],
    ['prices', (read) => provider.recentPrices(read, []), [[null], [{}], [{ prioritizationFee: -1 }]]],
    [
      'trial',
      (read) => provider.simulateTransaction(read, 'AQ==', { replacesBlockhash: false }),
      [
        { context, value: { logs: [], unitsConsumed: 5 } },
        { context, value: { err: 5, logs: [] } },
        { context, value: { err: null, logs: 'none' } },
        { context, value: { err: null, logs: [], unitsConsumed: 'many' } },
      ],
    ],
    [
      'accounts',
      (read) => provider.getAccounts(read, [KEY]),
      [
        { context, value: [] },
        { value: [account] },
        { context, value: [{ ...account, owner: 'me' }] },
        { context, value: [{ ...account, lamports: null }] },
        { context, value: [{ ...account, executable: 0 }] },
        { context, value: [{ ...account, data: 'AQI=' }] },
        { context, value: [{ ...account, data: ['AQI='] }] },
        { context, value: [{ ...account, data: ['AQI=', 'base58'] }] },
        { context, value: [{ ...account, data: ['AQI', 'base64'] }] },
        { context, value: [{ ...account, data: [null, 'base64'] }] },
      ],
    ],
    [
      'landed',
      (read) => provider.getTransaction(read, 'sig'),
      [{ slot: 5 }, { slot: 5, meta: null }, { slot: 5, meta: {} }],
    ],
    ['genesis', (read) => read(provider.GENESIS.method, [], provider.GENESIS.served), ['mainnet', KEY.slice(1)]],
  ];
  const nullable = new Set(['landed']);
  for (const [what, ask, lies] of asks) {
    for (const lie of [...lies, ...NONSENSE]) {
      if (what === 'prices' && JSON.stringify(lie) === '[]') continue;
      if (lie === null && nullable.has(what)) continue;
      await t.rejects(ask(answering(lie).read), TypeError, `${what}: ${JSON.stringify(lie)}`);
    }
  }
  for (const lie of ['5', -1, 1.5, true, {}]) {
    await t.rejects(provider.blockTime(answering(lie).read, 1n), TypeError);
    await t.rejects(provider.firstAvailableBlock(answering(lie).read), TypeError);
    await t.rejects(provider.getRentExemption(answering(lie).read, 1), TypeError);
  }
});

t.test('only endpoints of the chain are believed', async (t) => {
  const { rpc } = await openSolana(t, { genesis: keyOf(2), balance: 1 }, { genesis: keyOf(3), balance: 2 });
  t.equal(await provider.onlyOnChain(keyOf(3), rpc).onOne((read) => provider.getBalance(read, KEY)), 2n);
  const nobody = provider.onlyOnChain(keyOf(4), rpc);
  await t.rejects(
    nobody.onOne((read) => provider.getBalance(read, KEY)),
    { name: 'RpcError', kind: 'malformed' },
  );
});
