import {
  createSyncNativeInstruction,
  createTransferInstruction,
  getAssociatedTokenAddressSync,
  NATIVE_MINT,
} from '@solana/spl-token';
import { ComputeBudgetProgram, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { readPolicy } from '../../../../../src/chains/solana/configuration/policy.ts';
import { readComputeBudget } from '../../../../../src/chains/solana/message/compute-budget.ts';
import { decodeTransaction } from '../../../../../src/chains/solana/message/transaction.ts';
import { TOKEN_PROGRAM, WRAPPED_SOL } from '../../../../../src/chains/solana/programs.ts';
import { emptyWrappedSolInstructions, swapAssertions } from '../../../../../src/chains/solana/swap/assertions.ts';
import {
  marketRequestIdOf,
  offerToNodesOrMarket,
  UltraExecutions,
} from '../../../../../src/chains/solana/swap/execute.ts';
import {
  JUPITER_PROGRAM,
  readWritableTokenAccounts,
  swapFault,
  swapTermsOf,
} from '../../../../../src/chains/solana/swap/guard.ts';
import { executeUltraOrder, swapOffer, ultraOffer } from '../../../../../src/chains/solana/swap/jupiter.ts';
import {
  composeSwap,
  maxSwapFee,
  planUltraOrder,
  trialTransaction,
} from '../../../../../src/chains/solana/swap/plan.ts';
import { prepareSwap } from '../../../../../src/chains/solana/swap/prepare.ts';
import { swapBalancesOf, swapRequestsOf } from '../../../../../src/chains/solana/swap/swap-balance.ts';
import { wrappedSolAccount } from '../../../../../src/chains/solana/tokens/associated.ts';
import type { Json, JsonObject } from '../../../../../src/domain/json/json.ts';
import { MarketFailure } from '../../../../../src/egress/market-client.ts';
import { NO_MARKET } from '../../../../support/no-market.ts';
import { keyOf, type NodeAccount, type NodeWorld, openSolana } from '../../../../support/solana-node.ts';
import { built, fieldsOf, memo, storedAttempt } from '../../../../support/solana-relayer.ts';
import { MINT, relayerAddress } from '../../../../support/sponsor-scene.ts';
import {
  builtBy,
  partsOf,
  RELAYER_KEY,
  SOMEBODY,
  SOURCE,
  SWAP_ACCOUNTS,
  SWAP_POLICIES,
  stockOf,
  swappingOf,
  WRAPPED,
} from '../../../../support/swap-scene.ts';
import { tokensAccount } from '../../../../support/token-accounts.ts';

t.test('prepare', async (t) => {
  const give = createTransferInstruction(new PublicKey(SOURCE), new PublicKey(SOMEBODY), RELAYER_KEY, 1_000);
  const QUOTE = { inputMint: MINT, inAmount: '1000', outputMint: WRAPPED_SOL, outAmount: '2000000' };

  interface Asked {
    world?: NodeWorld;
    policies?: JsonObject;
    transaction?: string;
    committed?: bigint;
  }

  async function prepared(
    t: Test,
    { world, policies = SWAP_POLICIES, transaction = built([give]), committed = 0n }: Asked = {},
  ) {
    const { rpc } = await openSolana(t, { accounts: SWAP_ACCOUNTS, ...world });
    const market = { ...NO_MARKET, get: async () => QUOTE, post: async () => ({ swapTransaction: transaction }) };
    return prepareSwap(rpc, market, MINT, { address: relayerAddress, policies }, { committed });
  }

  t.test('a swap is prepared with what it gives and what it has to bring', async (t) => {
    t.match(await prepared(t), {
      kind: 'ready',
      cost: 5_000n + 2_039_280n,
      fields: { swap: { mint: MINT, given: 1_000, promised: 2_000_000, least: 1_980_000 }, rent: 2_039_280 },
    });
  });

  t.test('what can never be is refused, and what can be later waits', async (t) => {
    const { [SOURCE]: _, ...empty } = SWAP_ACCOUNTS;
    const theft = SystemProgram.transfer({ fromPubkey: RELAYER_KEY, toPubkey: new PublicKey(SOMEBODY), lamports: 1 });
    for (const [asked, outcome] of [
      [{ policies: {} }, { kind: 'refused', reason: /no swap of/ }],
      [{ world: { accounts: empty } }, { kind: 'refused', reason: /nothing to swap/ }],
      [{ transaction: built([theft]) }, { kind: 'refused', reason: /not signed: it gives 1{32}/ }],
      [{ world: { fee: 5_005_001 } }, { kind: 'refused', reason: /exceeds max allowed fee amount 5005000/ }],
      [{ world: { simulation: { err: 'AccountInUse' } } }, { kind: 'parked', cause: 'price' }],
      [{ committed: 999_000_000n }, { kind: 'parked', cause: 'balance' }],
      [{ world: { fee: 1_980_000 } }, { kind: 'parked', reason: 'The swap brings 1980000 lamports and costs 1980000' }],
    ] as [Asked, object][])
      t.match(await prepared(t, asked), outcome, JSON.stringify(outcome));
  });

  t.test('without a market a swap waits', async (t) => {
    const { rpc } = await openSolana(t, { accounts: SWAP_ACCOUNTS });
    const account = { address: relayerAddress, policies: SWAP_POLICIES };
    const waits = { kind: 'parked', reason: 'No swap: there is none', cause: 'price' };
    t.match(await prepareSwap(rpc, NO_MARKET, MINT, account, { committed: 0n }), waits);
  });
});

t.test('a swap costs no more than the policies say, or what is usual', async (t) => {
  const { policy, swaps } = swappingOf(builtBy());
  const priority = { level: 'high', most: 9n };
  t.equal(maxSwapFee({ policy, swaps }), 5_005_000n);
  t.equal(maxSwapFee({ policy, swaps: { ...swaps, priority } }), 5_009n);
  t.equal(maxSwapFee({ policy: { ...policy, maxAllowedFeeLamports: 5_001n }, swaps: { ...swaps, priority } }), 5_001n);
});

t.test('a trial is the message with no signature', async (t) => {
  const { message } = builtBy(memo('x'));
  const tried = decodeTransaction(trialTransaction(message));
  t.strictSame([tried.message, tried.signatures], [message, [Buffer.alloc(64)]]);
});

t.test('assemble', async (t) => {
  const give = createTransferInstruction(new PublicKey(SOURCE), new PublicKey(SOMEBODY), RELAYER_KEY, 1_000);
  const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 2_000_000_000_000 });

  async function made(t: Test, world: NodeWorld = {}) {
    const { rpc } = await openSolana(t, { accounts: SWAP_ACCOUNTS, ...world });
    const swapping = swappingOf(builtBy(ComputeBudgetProgram.setComputeUnitLimit({ units: 5 }), price, give));
    return rpc.onOne(async (read) => {
      const { message } = swapping.offer.transaction;
      const own = await readWritableTokenAccounts(read, message, message.keys, relayerAddress);
      if (typeof own === 'string') throw new Error(own);
      return composeSwap(read, swapping, own, []);
    });
  }

  t.test('a market’s message is put between a beginning and an end of the relayer’s', async (t) => {
    const plan = await made(t);
    if (typeof plan === 'string') throw new Error(plan);
    t.strictSame(partsOf(plan.message), [
      ...['Compu 2', 'Compu 3', 'AToke 1', 'Token 9', 'AToke 1', 'Token 3'],
      ...['Token 5', 'Token 3', '11111 2', 'Token 9'],
    ]);
    const { limit = 0, price: bounded = 0n } = readComputeBudget(plan.message);
    t.ok((BigInt(limit) * bounded) / 1_000_000n <= 5_000_000n, 'priority is bounded');
    t.equal(plan.rent, BigInt((165 + 128) * 6_960), 'of the account that is lent');
    const floor = plan.message.instructions.at(-2)?.data.readBigUInt64LE(4) ?? 0n;
    // The balance less the fee with its priority fee, the rent, and a tenth of the amount that must arrive.
    t.equal(floor, 1_000_000_000n - 5_005_000n - plan.rent - 198_000n);
  });

  t.test('a trial that fails is told with the message that was tried', async (t) => {
    const plan = await made(t, { simulation: { err: 'AccountNotFound' } });
    t.match(plan, { tried: { error: 'AccountNotFound' } });
  });
});

t.test('ordered', async (t) => {
  const SYSTEM = '11111111111111111111111111111111';
  const wallet = (lamports: number, data = Buffer.alloc(0)): NodeAccount => ({ owner: SYSTEM, lamports, data });
  const onNode = ({ owner, data, lamports = 1_000_000 }: NodeAccount) => ({
    owner,
    lamports,
    executable: false,
    data: [data.toString('base64'), 'base64'],
  });
  const EMPTY = tokensAccount(MINT, relayerAddress, 0n);

  /** The plan when a simulation leaves these accounts: the relayer's, its wrapped SOL account, its token account. */
  async function planned(t: Test, after: (NodeAccount | null)[], world: NodeWorld = {}) {
    const accounts = { ...SWAP_ACCOUNTS, [relayerAddress]: wallet(1_000_000_000) };
    const simulation = { accounts: after.map((one) => (one === null ? null : onNode(one))) };
    const { rpc } = await openSolana(t, { accounts, simulation, ...world });
    const swapping = swappingOf(builtBy(memo('swap')));
    const { message } = swapping.offer.transaction;
    return rpc.onOne(async (read) => {
      const own = await readWritableTokenAccounts(read, message, message.keys, relayerAddress);
      return planUltraOrder(read, swapping, typeof own === 'string' ? new Map() : own, message.keys);
    });
  }

  t.test('an order that leaves what it has to is signed as it is', async (t) => {
    const plan = await planned(t, [wallet(1_001_990_000), null, EMPTY]);
    t.match(plan, { lastValidBlockHeight: 1_050n, slot: 0n, rent: 0n, tried: { error: null } });
  });

  t.test('one that leaves less is not', async (t) => {
    const delegated = Buffer.from(EMPTY.data);
    delegated.writeUInt32LE(1, 72);
    for (const [after, reason] of [
      [[wallet(990_000_000), null, EMPTY], 'it brings less than 1980000 lamports'],
      [[null, null, EMPTY], 'it takes the account itself'],
      [[{ ...wallet(2_000_000_000), owner: keyOf(3) }, null, EMPTY], 'it takes the account itself'],
      [[wallet(2_000_000_000), null, { ...EMPTY, data: delegated }], 'it leaves the token account to somebody else'],
      [
        [wallet(2_000_000_000), null, tokensAccount(MINT, SOMEBODY, 0n)],
        'it leaves the token account to somebody else',
      ],
      [[], 'the node does not tell what it would leave'],
    ] as const)
      t.equal(await planned(t, [...after]), reason);
    const stale = { valid: [keyOf(8)] };
    t.equal(await planned(t, [wallet(2_000_000_000), null, EMPTY], stale), 'its blockhash is not known, or too old');
  });
});

t.test('assertions', async (t) => {
  const kind = ({ programId, data }: TransactionInstruction) => `${programId.toBase58().slice(0, 5)} ${data[0] ?? ''}`;

  const keysOf = (instruction?: TransactionInstruction) =>
    instruction?.keys.map(({ pubkey }) => pubkey.toBase58()) ?? [];

  t.test('before a swap its account is there and empty', async (t) => {
    t.strictSame(emptyWrappedSolInstructions(relayerAddress, swappingOf(builtBy()).wrapped).map(kind), [
      'AToke 1',
      'Token 9',
      'AToke 1',
    ]);
  });

  t.test('at its end all has to be there, and nobody may take it later', async (t) => {
    const held = { program: TOKEN_PROGRAM, mint: 'm', owner: relayerAddress, isFrozen: false, delegate: null };
    const end = (amount: bigint, lamports: bigint) =>
      swapAssertions({
        relayer: relayerAddress,
        lamports,
        brought: 5n,
        tokens: new Map([[SOURCE, { ...held, amount }]]),
      });
    const all = end(7n, 9n);
    t.strictSame(all.map(kind), ['Token 3', 'Token 5', 'Token 3', '11111 2', 'Token 9']);
    for (const [place, account, amount] of [
      [0, SOURCE, 7n],
      [2, WRAPPED, 5n],
    ] as const) {
      t.strictSame(keysOf(all[place]).slice(0, 2), [account, account]);
      t.equal(all[place]?.data.readBigUInt64LE(1), amount);
    }
    t.strictSame(keysOf(all[3]), [relayerAddress, relayerAddress]);
    t.strictSame(end(0n, 0n).map(kind), ['Token 5', 'Token 3', 'Token 9'], 'of nothing there is nothing to assert');
  });
});

t.test('guard', async (t) => {
  /** A call of Jupiter's program that gives `given` and gets `out`. */
  function route(
    given: bigint,
    out: bigint,
    [from, to, instead] = [SOURCE, WRAPPED, JUPITER_PROGRAM],
  ): TransactionInstruction {
    const data = Buffer.alloc(30);
    Buffer.from('bb64facc31c4af14', 'hex').copy(data);
    data.writeBigUInt64LE(given, 8);
    data.writeBigUInt64LE(out, 16);
    const others = Array.from({ length: 4 }, () => SOMEBODY);
    const named = [relayerAddress, from ?? '', to ?? '', ...others, instead ?? ''].map((key) => new PublicKey(key));
    const keys = named.map((pubkey, place) => ({ pubkey, isSigner: false, isWritable: place < 3 }));
    return new TransactionInstruction({ programId: new PublicKey(JUPITER_PROGRAM), keys, data });
  }

  async function fault(
    t: Test,
    instructions: TransactionInstruction[],
    extra = {},
    isAsIs = false,
  ): Promise<string | undefined> {
    const { rpc } = await openSolana(t, { accounts: { ...SWAP_ACCOUNTS, ...extra } });
    const { message } = builtBy(...instructions);
    const own = await rpc.onOne((read) => readWritableTokenAccounts(read, message, message.keys, relayerAddress));
    if (typeof own === 'string') return own;
    const allowance = { relayer: relayerAddress, source: SOURCE, given: 1_000n, least: 500n, isAsIs };
    return swapFault(message, message.keys, own, allowance);
  }

  t.test('what a swap is made of passes', async (t) => {
    const unit = ComputeBudgetProgram.setComputeUnitLimit({ units: 1 });
    t.equal(
      await fault(t, [unit, createSyncNativeInstruction(new PublicKey(WRAPPED)), route(1_000n, 500n), memo('x')]),
      undefined,
    );
  });

  t.test('amounts count together, and Jupiter’s program has to insist on the least', async (t) => {
    const [source, to] = [new PublicKey(SOURCE), new PublicKey(SOMEBODY)];
    const one = createTransferInstruction(source, to, RELAYER_KEY, 1n);
    t.equal(await fault(t, [route(1_000n, 500n), one]), 'it takes 1001 of the token, not 1000');
    t.equal(await fault(t, [route(1_000n, 499n)]), 'it would be content with 499 lamports');
  });

  t.test('stake and nonces are no part of a swap', async (t) => {
    const stranger = keyOf(50);
    const touch = SystemProgram.transfer({
      fromPubkey: new PublicKey(stranger),
      toPubkey: new PublicKey(stranger),
      lamports: 0,
    });
    for (const [key] of touch.keys.entries()) Object.assign(touch.keys[key] ?? {}, { isSigner: false });
    for (const owner of ['Stake11111111111111111111111111111111111111', '11111111111111111111111111111111']) {
      const extra = { [stranger]: { owner, data: Buffer.alloc(80) } };
      t.equal(await fault(t, [touch], extra), `it may write ${stranger}, which is no part of a swap`);
    }
  });

  t.test('what is signed as it is swaps between the relayer’s accounts, and calls nobody else', async (t) => {
    const strict = (...instructions: TransactionInstruction[]) => fault(t, instructions, {}, true);
    t.equal(await strict(route(1_000n, 500n)), undefined);
    t.equal(await strict(route(1_000n, 500n, [SOURCE, WRAPPED, WRAPPED])), undefined);
    for (const places of [
      [WRAPPED, WRAPPED, JUPITER_PROGRAM],
      [SOURCE, SOMEBODY, JUPITER_PROGRAM],
      [SOURCE, WRAPPED, SOMEBODY],
    ] as [string, string, string][])
      t.equal(await strict(route(1_000n, 500n, places)), 'it swaps between other accounts than the relayer’s');
    t.match(await strict(route(1_000n, 500n), memo('x')), /^it calls Memo\S+, which is no part of a swap$/);
  });
});

t.test('aggregator', async (t) => {
  /** The discriminators of the program's published interface. */
  const [ROUTE, SHARED, ROUTE_V2, SHARED_V2, EXACT_OUT] = [
    'e517cb977ae3ad2a',
    'c1209b3341d69c81',
    'bb64facc31c4af14',
    'd19853937cfed8e9',
    'd033ef977b2bed5c',
  ] as const;

  /** 1,000 in, 2,000 out, 0.5 % slippage. */
  const terms = Buffer.alloc(18);
  terms.writeBigUInt64LE(1_000n);
  terms.writeBigUInt64LE(2_000n, 8);
  terms.writeUInt16LE(50, 16);

  const plan = Buffer.from('01000000266400', 'hex');
  const made = (selector: string, ...parts: Buffer[]) => Buffer.concat([Buffer.from(selector, 'hex'), ...parts]);

  t.test('what an instruction of Jupiter’s program gives, and takes at least', async (t) => {
    for (const data of [
      made(ROUTE, plan, terms, Buffer.alloc(1)),
      made(SHARED, Buffer.from([7]), plan, terms, Buffer.alloc(1)),
      made(ROUTE_V2, terms, Buffer.alloc(4), plan),
      made(SHARED_V2, Buffer.from([7]), terms, Buffer.alloc(4), plan),
    ])
      t.match(swapTermsOf(data), { given: 1_000n, least: 1_990n });
  });

  t.test('a slippage beyond all takes nothing', async (t) => {
    const all = Buffer.from(terms);
    all.writeUInt16LE(65_535, 16);
    t.match(swapTermsOf(made(ROUTE_V2, all)), { given: 1_000n, least: 0n });
  });

  t.test('what is not known has no terms', async (t) => {
    t.equal(swapTermsOf(made(EXACT_OUT, plan, terms, Buffer.alloc(1))), undefined);
    t.equal(swapTermsOf(made(ROUTE, Buffer.alloc(10))), undefined);
    t.equal(swapTermsOf(made(SHARED_V2, terms)), undefined);
    t.equal(swapTermsOf(Buffer.alloc(0)), undefined);
  });

  t.test('where it takes from and pays to', async (t) => {
    const placesOf = (data: Buffer) => {
      const { given: _, least: __, ...places } = swapTermsOf(data) ?? { given: 0n, least: 0n };
      return places;
    };
    t.strictSame(placesOf(made(ROUTE, plan, terms, Buffer.alloc(1))), { source: 2, destination: 3, instead: 4 });
    t.strictSame(placesOf(made(SHARED, plan, terms, Buffer.alloc(1))), { source: 3, destination: 6 });
    t.strictSame(placesOf(made(ROUTE_V2, terms)), { source: 1, destination: 2, instead: 7 });
    t.strictSame(placesOf(made(SHARED_V2, Buffer.from([7]), terms)), { source: 2, destination: 5 });
  });
});

t.test('execute', async (t) => {
  const swap = { mint: 'M', given: 1, promised: 7, least: 6, request_id: 'r' };
  const attempt = storedAttempt('h', { fields: fieldsOf({ swap }) });
  const offered = (post: () => Promise<Json>) => new UltraExecutions({ ...NO_MARKET, post }).offer(attempt);

  t.test('an attempt that the market brings to the chain is known by its id', async (t) => {
    t.equal(marketRequestIdOf(attempt), 'r');
    t.equal(marketRequestIdOf(storedAttempt('h')), undefined);
  });

  t.test('only these very bytes count as taken, and nothing that is said as an end', async (t) => {
    t.match(await offered(async () => ({ status: 'Success', signature: 'h' })), { kind: 'accepted' });
    t.match(await offered(async () => ({ status: 'Success', signature: 'other' })), { kind: 'unknown' });
    t.match(await offered(async () => ({ status: 'Failed', error: 'slippage' })), {
      kind: 'unknown',
      reason: /: slippage$/,
    });
    t.match(await offered(async () => 7), { kind: 'unknown' });
    const late = async () => Promise.reject(new MarketFailure('it is late'));
    t.match(await offered(late), { kind: 'unknown', reason: 'it is late' });
    await t.rejects(
      offered(async () => Promise.reject(new Error('ours'))),
      { message: 'ours' },
    );
  });

  t.test('one that is being executed is not given to the market twice', async (t) => {
    let asked = 0;
    const answer = Promise.withResolvers<Json>();
    const executions = new UltraExecutions({
      ...NO_MARKET,
      post: () => {
        asked += 1;
        return answer.promise;
      },
    });
    t.match(await executions.offer(attempt), { kind: 'unknown', reason: 'the market has not answered yet' });
    const second = executions.offer(attempt);
    answer.resolve({ status: 'Success', signature: 'h' });
    t.match(await second, { kind: 'accepted' });
    t.equal(asked, 1);
  });
});

t.test('orders go to the market and all else to the nodes, and each has its own outcome', async (t) => {
  const { rpc } = await openSolana(t, { instead: { sendTransaction: { result: 'plain' } } });
  const executions = new UltraExecutions({
    ...NO_MARKET,
    post: async () => ({ status: 'Success', signature: 'ordered' }),
  });
  const swap = { mint: 'M', given: 1, promised: 7, least: 6, request_id: 'r' };
  const ordered = storedAttempt('ordered', { fields: fieldsOf({ swap }) });
  const other = storedAttempt('other', { fields: fieldsOf({ swap: { ...swap, request_id: 'q' } }) });
  const outcomes = await offerToNodesOrMarket(rpc, executions, [other, storedAttempt('plain'), ordered]);
  t.match(outcomes, [{ kind: 'unknown' }, { kind: 'accepted' }, { kind: 'accepted' }]);
  t.strictSame(await offerToNodesOrMarket(rpc, executions, []), []);
});

t.test('market offers', async (t) => {
  const QUOTE = { inputMint: MINT, inAmount: '1000', outputMint: WRAPPED_SOL, outAmount: '2000' };
  const BYTES = built([memo('swap')]);
  const { swaps } = swappingOf(builtBy());
  const failure = (text: string) => ({ name: 'MarketFailure', message: text });

  /** A market with these answers by path, and the requests it received. */
  function market(answers: Readonly<Record<string, Json>>) {
    const asked: unknown[] = [];
    const answer = async (path: string, about: unknown): Promise<Json> => {
      asked.push([path, about]);
      return answers[path] ?? null;
    };
    return { asked, client: { ...NO_MARKET, get: answer, post: answer } };
  }

  t.test('the Swap API is asked for a quote and for its transaction', async (t) => {
    const { client, asked } = market({ '/swap/v1/quote': QUOTE, '/swap/v1/swap': { swapTransaction: BYTES } });
    const priority = { level: 'high', most: 9n };
    t.match(await swapOffer(client, relayerAddress, stockOf(), { ...swaps, priority, isLimitDynamic: true }), {
      promised: 2_000n,
      least: 1_980n,
      transaction: { message: { signers: 1 } },
    });
    t.strictSame(asked[1], [
      '/swap/v1/swap',
      {
        ...{
          userPublicKey: relayerAddress,
          quoteResponse: QUOTE,
          wrapAndUnwrapSol: false,
          dynamicComputeUnitLimit: true,
        },
        prioritizationFeeLamports: { priorityLevelWithMaxLamports: { priorityLevel: 'high', maxLamports: 9 } },
      },
    ]);
  });

  t.test('what is no transaction is none', async (t) => {
    const offered = (answers: Readonly<Record<string, Json>>) =>
      swapOffer(market({ '/swap/v1/quote': QUOTE, ...answers }).client, relayerAddress, stockOf(), swaps);
    await t.rejects(offered({}), failure('it built no transaction'));
    await t.rejects(offered({ '/swap/v1/swap': { swapTransaction: 'AAAA' } }), {
      message: /its transaction is invalid: /,
    });
    const worthless = { '/swap/v1/quote': { ...QUOTE, outAmount: '0' }, '/swap/v1/swap': { swapTransaction: BYTES } };
    await t.rejects(offered(worthless), { message: /worth less than a lamport/ });
  });

  t.test('an order is for what was asked, and has a transaction', async (t) => {
    const order = { ...QUOTE, transaction: BYTES, requestId: 'r' };
    const ordered = (answer: Json) =>
      ultraOffer(market({ '/ultra/v1/order': answer }).client, relayerAddress, stockOf());
    t.match(await ordered(order), { promised: 2_000n, least: 1_980n, requestId: 'r' });
    await t.rejects(ordered({ ...order, requestId: '' }), failure('its order is invalid'));
    await t.rejects(ordered({ ...order, inAmount: '1001' }), failure('its order is for something else'));
    await t.rejects(ordered({ ...order, outputMint: MINT }), failure('its order is for something else'));
    await t.rejects(ordered({ ...order, transaction: null }), failure('its order has no transaction'));
  });

  t.test('a signed order goes back with its id', async (t) => {
    const { client, asked } = market({ '/ultra/v1/execute': { status: 'Success' } });
    t.strictSame(await executeUltraOrder(client, 'bytes', 'r'), { status: 'Success' });
    t.strictSame(asked, [['/ultra/v1/execute', { signedTransaction: 'bytes', requestId: 'r' }]]);
  });
});

t.test('stock', async (t) => {
  const stocks = async (t: Test, config: object, accounts = SWAP_ACCOUNTS) => {
    const { rpc } = await openSolana(t, { accounts });
    const mints = [keyOf(99), WRAPPED_SOL, MINT].map((mint) => ({ mint, swap_config: { ...config } }));
    const { allowedTokens } = readPolicy({ allowed_tokens: mints });
    return rpc.onOne((read) => swapBalancesOf(read, relayerAddress, allowedTokens));
  };

  t.test('all of a token is swapped, within its bounds', async (t) => {
    t.match(await stocks(t, {}), [{ account: SOURCE, held: 1_000n, swapped: 1_000n }]);
    t.match(await stocks(t, { retain_min_amount: 400 }), [{ swapped: 600n }]);
    t.match(await stocks(t, { retain_min_amount: 400, max_amount: 500, min_amount: 500 }), [{ swapped: 500n }]);
    for (const none of [{ min_amount: 1_001 }, { max_amount: 0 }, { retain_min_amount: 1_000 }])
      t.strictSame(await stocks(t, none), [], JSON.stringify(none));
  });

  t.test('an account that is not there, or not the relayer’s, has nothing', async (t) => {
    const { [SOURCE]: _, ...others } = SWAP_ACCOUNTS;
    t.strictSame(await stocks(t, {}, others), []);
    t.strictSame(await stocks(t, {}, { ...SWAP_ACCOUNTS, [SOURCE]: tokensAccount(MINT, SOMEBODY, 5n) }), []);
  });
});

t.test('a swap of each token that there is, and none without a strategy', async (t) => {
  const { rpc } = await openSolana(t, { accounts: SWAP_ACCOUNTS });
  const account = { address: relayerAddress, policies: SWAP_POLICIES };
  t.strictSame(await swapRequestsOf(rpc, account), [
    {
      request: { swap: { mint: MINT } },
      validUntil: null,
      contentKey: `swap:${MINT}`,
      anchorKind: 'none',
      onDeath: 'renew',
    },
  ]);
  t.strictSame(
    await swapRequestsOf(rpc, { ...account, policies: { ...SWAP_POLICIES, swap_config: { strategy: 'noop' } } }),
    [],
  );
});

t.test('wrapped SOL is where everybody looks for it', async (t) => {
  t.equal(wrappedSolAccount(relayerAddress), getAssociatedTokenAddressSync(NATIVE_MINT, RELAYER_KEY).toBase58());
});
