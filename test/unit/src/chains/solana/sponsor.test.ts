import {
  createAssociatedTokenAccountIdempotentInstruction,
  createBurnCheckedInstruction,
  createBurnInstruction,
  createTransferCheckedInstruction,
  createTransferInstruction,
} from '@solana/spl-token';
import { PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { readPolicy } from '../../../../../src/chains/solana/configuration/policy.ts';
import { programsOf } from '../../../../../src/chains/solana/guard/policies.ts';
import { tokenTransfers } from '../../../../../src/chains/solana/guard/tokens.ts';
import { MalformedTransaction } from '../../../../../src/chains/solana/message/compiled-message.ts';
import { decodeTransaction, isSignatureOf } from '../../../../../src/chains/solana/message/transaction.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  WRAPPED_SOL,
} from '../../../../../src/chains/solana/programs.ts';
import { LOCAL_RPC_METHODS } from '../../../../../src/chains/solana/rpc-methods.ts';
import {
  assertAllowed,
  buildPrepared,
  buildTransfer,
  grossAmountOf,
  isAccountMissing,
  readSponsoredAsset,
  type TransferRequest,
  transferInstructionOf,
  walletBalanceOf,
} from '../../../../../src/chains/solana/sponsor/build.ts';
import {
  GaslessRefusal,
  gaslessRefusalOf,
  withApiErrors,
  withGaslessRefusals,
} from '../../../../../src/chains/solana/sponsor/errors.ts';
import {
  createSponsorship,
  noParamsSchema,
  readParams,
  sponsoredSchema,
  sponsorMethods,
  transferSchema,
} from '../../../../../src/chains/solana/sponsor/methods.ts';
import { assertPaid } from '../../../../../src/chains/solana/sponsor/payment.ts';
import { lamportsInToken, sponsoredPriceOf } from '../../../../../src/chains/solana/sponsor/price.ts';
import { tokensPerSolText, unitsText } from '../../../../../src/chains/solana/sponsor/sponsor.ts';
import { metadataAddress, supportedTokens, symbolOf } from '../../../../../src/chains/solana/sponsor/supported.ts';
import { quoteTokensFor } from '../../../../../src/chains/solana/swap/jupiter.ts';
import { associatedAccount } from '../../../../../src/chains/solana/tokens/associated.ts';
import { MINT_EXTENSIONS, type Mint } from '../../../../../src/chains/solana/tokens/mint.ts';
import { AppError, invalidRequest, StoreUnavailable } from '../../../../../src/domain/errors.ts';
import type { Json, JsonObject } from '../../../../../src/domain/json/json.ts';
import {
  createMarketClient,
  createMarketHttp,
  type MarketClient,
  MarketFailure,
} from '../../../../../src/egress/market-client.ts';
import { RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';
import { startJupiter } from '../../../../support/jupiter.ts';
import { NO_MARKET } from '../../../../support/no-market.ts';
import { keypair } from '../../../../support/solana-messages.ts';
import { keyOf, type NodeWorld, openSolana } from '../../../../support/solana-node.ts';
import { built, memo, RELAYER, relayerAccount, signerOf } from '../../../../support/solana-relayer.ts';
import {
  accountOf,
  DOUBLE_MARKET,
  MINT,
  openSponsor,
  payTo,
  relayerAddress,
  TOKENS,
  USER,
  userAddress,
} from '../../../../support/sponsor-scene.ts';
import { mintAccount, tokensAccount } from '../../../../support/token-accounts.ts';

t.test('sponsor', async (t) => {
  const users = (policies = {}) => relayerAccount({ fee_payment_strategy: 'user', ...policies });
  const signer = signerOf(RELAYER);
  const ASKED = { transaction: built([memo('a', USER)], { payer: USER.publicKey }), fee_token: MINT };

  const isSigned = (base64: unknown) => {
    const { signatures, messageBytes } = decodeTransaction(String(base64));
    return isSignatureOf(relayerAddress, signatures[0] ?? Buffer.alloc(0), messageBytes);
  };

  t.test('an estimate is in whole units of the token', async (t) => {
    const { sponsor } = await openSponsor(t);
    t.strictSame(await sponsor.estimate(ASKED, users()), { estimated_fee: '0.02', conversion_rate: '2000' });
  });

  t.test('what is prepared, and what is transferred, is signed by the relayer', async (t) => {
    const { sponsor } = await openSponsor(t);
    const prepared = await sponsor.prepare(ASKED, users(), signer);
    t.match(prepared, { fee_in_spl: '20000', fee_in_lamports: '10000', fee_token: MINT });
    t.ok(isSigned(prepared['transaction']));
    const asked = { amount: 7n, token: MINT, source: userAddress, destination: relayerAddress };
    t.ok(isSigned((await sponsor.transfer(asked, users(), signer))['transaction']));
    await t.rejects(sponsor.transfer({ ...asked, source: 'x' }, users(), signer), { code: -32_602 });
    await t.rejects(sponsor.transfer({ ...asked, source: relayerAddress }, users(), signer), { code: -32_602 });
  });

  t.test('a client’s own bytes are signed when they pay enough, and stay what they are', async (t) => {
    const { sponsor } = await openSponsor(t);
    const enough = built([payTo(relayerAddress, 20_000n)], { signers: [USER] });
    const { transaction } = await sponsor.sign(enough, users(), signer);
    t.ok(isSigned(transaction));
    t.ok(decodeTransaction(transaction).messageBytes.equals(decodeTransaction(enough).messageBytes));
    await t.rejects(sponsor.sign(built([payTo(relayerAddress, 1n)], { signers: [USER] }), users(), signer), {
      code: -32_602,
    });
    await t.resolves(sponsor.sign(built([memo('free')]), relayerAccount(), signer), 'where the relayer pays');
  });

  t.test('what a trial, a blockhash or the balance speak against is not signed', async (t) => {
    const paid = built([payTo(relayerAddress, 20_000n)], { signers: [USER] });
    const failing = await openSponsor(t, { simulation: { err: 'InvalidAccountIndex' } });
    await t.rejects(failing.sponsor.sign(paid, users(), signer), { code: -32_013, detail: /Simulation failed/ });
    const old = await openSponsor(t, { valid: [keyOf(9)], latest: keyOf(9) });
    await t.rejects(old.sponsor.sign(built([memo('a')]), relayerAccount(), signer), {
      code: -32_013,
      detail: `Blockhash ${keyOf(7)} is no longer valid`,
    });
    const poor = await openSponsor(t, { balance: 1 });
    await t.rejects(poor.sponsor.sign(paid, users(), signer), {
      code: -32_002,
      detail: /Insufficient relayer balance/,
    });
  });

  t.test('what is to be sent has the signatures of all others', async (t) => {
    const { sponsor } = await openSponsor(t);
    await t.resolves(sponsor.assertSendable(built([memo('a', USER)], { signers: [USER] }), relayerAccount()));
    await t.rejects(sponsor.assertSendable(built([memo('a', USER)]), relayerAccount()), {
      message: /signature of \S+ is missing/,
    });
    await t.resolves(sponsor.assertPaid({ instructions: [] }, users()));
  });
});

t.test('methods', async (t) => {
  const account = relayerAccount({ fee_payment_strategy: 'user' });
  const ASKED = { transaction: built([memo('a', USER)], { payer: USER.publicKey }), fee_token: MINT };
  const PAID = { transaction: built([payTo(relayerAddress, 20_000n)], { signers: [USER] }) };

  t.test('each method is of the kind that its name says everywhere', async (t) => {
    const { sponsor, rpc } = await openSponsor(t);
    const methods = sponsorMethods(sponsor, () => rpc);
    t.strictSame(new Map([...methods].map(([name, { kind }]) => [name, kind])), new Map(LOCAL_RPC_METHODS));
  });

  t.test('each method answers, and refuses other parameters', async (t) => {
    const { sponsor, rpc } = await openSponsor(t);
    const methods = sponsorMethods(sponsor, () => rpc);
    const run = async (name: string, params: Json) => {
      const method = methods.get(name);
      if (method === undefined || method.kind === 'send') throw new Error(`${name} is run`);
      return method.run(params, account, signerOf(RELAYER));
    };
    const transfer = { amount: 5, token: MINT, source: userAddress, destination: relayerAddress };
    const answers: [string, Json, object][] = [
      ['feeEstimate', ASKED, { estimated_fee: '0.02' }],
      ['prepareTransaction', ASKED, { fee_in_spl: '20000' }],
      ['transferTransaction', transfer, { fee_in_spl: '20000' }],
      ['signTransaction', PAID, { signature: String }],
      ['getSupportedTokens', {}, { tokens: [] }],
      ['getFeaturesEnabled', {}, { features: ['gasless'] }],
      ['getSupportedFeatures', {}, { features: ['gasless'] }],
    ];
    for (const [name, params, expected] of answers) {
      t.match(await run(name, params), expected, name);
      await t.rejects(
        run(name, { other: 1 }),
        { code: 'INVALID_REQUEST', message: /^Invalid Solana RPC request: / },
        name,
      );
    }
  });

  t.test('what is sent is checked before, and answered by its view', async (t) => {
    const { sponsor, rpc } = await openSponsor(t);
    const method = sponsorMethods(sponsor, () => rpc).get('signAndSendTransaction');
    if (method?.kind !== 'send') throw new Error('it sends');
    t.strictSame(method.body(PAID), PAID);
    await t.resolves(method.check(PAID, account));
    await t.rejects(method.check({ transaction: 'x' }, account), { code: -32_601 });
    const view = { id: 'i', status: 'sent', transaction: 'AQ', signature: 's', created_at: '' };
    t.strictSame(method.answer(view), { transaction: 'AQ', signature: 's', id: 'i' });
    t.throws(
      () => method.answer({ id: 'i', status: 'failed', status_reason: 'why' }),
      /prepare the transfer transaction: why$/,
    );
    t.throws(() => method.answer({ id: 'i', status: 'failed' }), /ended before it was signed/);
    t.match(method.refusal(new AppError('UNAVAILABLE', { reason: 'withdrawn' })), { tag: 'SEND_ERROR' });
    t.equal(method.refusal(new StoreUnavailable('gone')), undefined, 'it may have been accepted');
    t.match(method.refusal(invalidRequest('Policy violation: x')), { code: -32_013 });
    t.equal(method.refusal(new AppError('RELAYER_PAUSED', {})), undefined);
  });

  t.test('the endpoints without JSON-RPC say the same', async (t) => {
    const { sponsor } = await openSponsor(t);
    const { quote, build } = createSponsorship(sponsor, (use) => use());
    t.match(await quote(ASKED, account), { estimated_fee: '0.02' });
    t.match(await build(ASKED, account, signerOf(RELAYER)), { fee_in_spl: '20000', transaction: String });
    await t.rejects(quote({}, account), { code: 'INVALID_REQUEST' });
    await t.rejects(build({ ...ASKED, fee_token: 'x' }, account, signerOf(RELAYER)), { code: 'INVALID_REQUEST' });
  });
});

t.test('build', async (t) => {
  const building = (policies: JsonObject) => ({
    account: relayerAccount({ fee_payment_strategy: 'user', ...policies }),
    prices: { market: DOUBLE_MARKET, genesis: 'a chain' },
  });

  async function prepared(
    t: Test,
    transaction: string,
    policies: JsonObject = {},
    world: NodeWorld = {},
    feeToken = MINT,
  ) {
    const { rpc } = await openSolana(t, { accounts: TOKENS, fee: 10_000, latest: keyOf(8), ...world });
    const made = await rpc.onOne((read) => buildPrepared(read, { transaction, feeToken }, building(policies)));
    return { ...made, message: decodeTransaction(made.transaction).message };
  }

  async function moved(
    t: Test,
    asked: Partial<TransferRequest> = {},
    policies: JsonObject = {},
    world: NodeWorld = {},
  ) {
    const { rpc } = await openSolana(t, { accounts: TOKENS, fee: 10_000, ...world });
    const transfer = { amount: 7n, token: MINT, source: userAddress, destination: keyOf(50), ...asked };
    const made = await rpc.onOne((read) => buildTransfer(read, transfer, building(policies)));
    return { ...made, message: decodeTransaction(made.transaction).message };
  }

  const OF_USER = built([memo('a', USER)], { payer: USER.publicKey });

  t.test('a user’s transaction gets its payment before it, the relayer as payer and a new blockhash', async (t) => {
    const { message, quote, lastValidBlockHeight } = await prepared(t, OF_USER);
    t.match(quote, { lamports: 10_000n, tokens: 20_000n, gross: 20_000n });
    t.strictSame(message.keys.slice(0, 2), [relayerAddress, userAddress]);
    t.equal(message.blockhash, keyOf(8));
    t.ok((lastValidBlockHeight ?? 0n) > 0n);
    t.match(tokenTransfers(message, message.keys), [
      { source: accountOf(userAddress), destination: accountOf(relayerAddress), amount: 20_000n },
    ]);
    t.equal(message.instructions.length, 2);
  });

  t.test('an account of the relayer’s that is not there is made, and paid for', async (t) => {
    const { [accountOf(relayerAddress)]: _, ...accounts } = TOKENS;
    const { message, quote } = await prepared(t, OF_USER, {}, { accounts });
    t.equal(quote.lamports, 10_000n + BigInt((165 + 128) * 6_960));
    t.equal(programsOf(message)[0], ASSOCIATED_TOKEN_PROGRAM);
  });

  t.test('the coin is paid without an account', async (t) => {
    const { message, quote } = await prepared(t, OF_USER, {}, {}, SYSTEM_PROGRAM);
    t.match(quote, { lamports: 10_000n, gross: 10_000n });
    t.equal(programsOf(message)[0], SYSTEM_PROGRAM);
  });

  t.test('where the relayer pays, the transaction stays what it is, for another payer', async (t) => {
    const { message, quote } = await prepared(t, OF_USER, { fee_payment_strategy: 'relayer' });
    t.equal(message.instructions.length, 1);
    t.strictSame(message.keys.slice(0, 2), [relayerAddress, userAddress]);
    t.match(quote, { gross: 20_000n });
  });

  t.test('under a durable nonce its value stays, behind the advance', async (t) => {
    const advance = SystemProgram.nonceAdvance({ noncePubkey: USER.publicKey, authorizedPubkey: USER.publicKey });
    const { message, lastValidBlockHeight } = await prepared(
      t,
      built([advance, memo('a', USER)], { payer: USER.publicKey }),
    );
    t.equal(message.blockhash, keyOf(7));
    t.equal(lastValidBlockHeight, null);
    t.equal(programsOf(message)[0], SYSTEM_PROGRAM);
  });

  t.test('a transfer makes the other’s account where it is not there, at the cost of who is paid back', async (t) => {
    const user = await moved(t);
    const [creation] = user.message.instructions.filter(
      ({ program }) => user.message.keys[program] === ASSOCIATED_TOKEN_PROGRAM,
    );
    t.equal(creation?.accounts[0], 0, 'the relayer pays');
    t.match(tokenTransfers(user.message, user.message.keys), [{ amount: user.quote.gross }, { amount: 7n }]);
    const relayer = await moved(t, {}, { fee_payment_strategy: 'relayer' });
    const [other] = relayer.message.instructions;
    t.equal(relayer.message.keys[other?.accounts[0] ?? 0], userAddress);
    t.match(await moved(t, { destination: relayerAddress }), { quote: { lamports: 10_000n } });
  });

  t.test('what cannot be built is refused with its class', async (t) => {
    const own = built([memo('a')]);
    const dear = { allowed_tokens: [{ mint: MINT, max_allowed_fee: 19_999 }] };
    const poor = {
      accounts: { ...TOKENS, [accountOf(userAddress)]: TOKENS[accountOf(relayerAddress)] ?? TOKENS[MINT] },
    } as NodeWorld;
    await t.rejects(prepared(t, own), { code: -32_602, message: 'The relayer cannot pay itself' });
    await t.rejects(prepared(t, 'AQAB'), { name: 'Error', message: /Malformed transaction/ });
    await t.rejects(prepared(t, OF_USER, dear), { code: -32_013, message: /exceeds max allowed fee amount 19999/ });
    await t.rejects(prepared(t, OF_USER, {}, poor), { code: -32_002, message: /has 0 of/ });
    await t.rejects(prepared(t, OF_USER, { max_signatures: 1 }), { code: -32_013, message: /requires 2 signatures/ });
    await t.rejects(moved(t, { amount: 0n }), { code: -32_013, message: /greater than 0/ });
    await t.rejects(moved(t, { amount: 100_000_000n, destination: relayerAddress }), {
      code: -32_002,
      message: /100020000 are needed/,
    });
    await t.rejects(moved(t, {}, { disallowed_accounts: [keyOf(50)] }), {
      code: -32_013,
      message: /explicitly disallowed/,
    });
  });

  t.test('a fee in a token stays within what the policies say of it', async (t) => {
    const policy = readPolicy({ allowed_tokens: [{ mint: MINT, max_allowed_fee: 5 }] });
    t.doesNotThrow(() => assertAllowed(policy, { tokenFee: { mint: MINT, amount: 5n } }));
    t.throws(() => assertAllowed(policy, { tokenFee: { mint: MINT, amount: 6n } }), /exceeds/);
    t.doesNotThrow(() => assertAllowed(policy, { tokenFee: { mint: keyOf(50), amount: 6n } }));
  });

  t.test('where swaps close the account of wrapped SOL, a payment in it makes it anew', async (t) => {
    const ofWrapped = (wallet: string) =>
      associatedAccount(wallet, { address: WRAPPED_SOL, program: TOKENS[accountOf(wallet)]?.owner ?? '' });
    const accounts = {
      ...TOKENS,
      [WRAPPED_SOL]: mintAccount(9),
      [ofWrapped(userAddress)]: tokensAccount(WRAPPED_SOL, userAddress, 100_000_000n),
      [ofWrapped(relayerAddress)]: tokensAccount(WRAPPED_SOL, relayerAddress, 0n),
    };
    const swaps = { allowed_tokens: [{ mint: WRAPPED_SOL }], swap_config: { strategy: 'jupiter-swap' } };
    for (const [policies, makes] of [
      [swaps, true],
      [{ allowed_tokens: swaps.allowed_tokens }, false],
    ] as const) {
      const { message, quote } = await prepared(t, OF_USER, policies, { accounts }, WRAPPED_SOL);
      t.equal(programsOf(message).includes(ASSOCIATED_TOKEN_PROGRAM), makes);
      t.match(quote, { lamports: 10_000n, tokens: 10_000n });
    }
  });
});

t.test('payment', async (t) => {
  const UNPAID = { tag: 'INVALID_PARAMS', code: -32_602, message: /doesn't contain required fee payment instruction/ };
  const ELSEWHERE = keyOf(60);

  const lamports = (amount: number) =>
    SystemProgram.transfer({ fromPubkey: USER.publicKey, toPubkey: RELAYER.publicKey, lamports: amount });

  /** The price is 10,000 lamports, or 20,000 of the token. */
  async function check(
    t: Test,
    instructions: TransactionInstruction[],
    {
      signers = [USER],
      policies = {},
      accounts = TOKENS,
      market = DOUBLE_MARKET,
    }: { signers?: (typeof USER)[]; policies?: JsonObject; accounts?: typeof TOKENS; market?: MarketClient } = {},
  ): Promise<void> {
    const { rpc } = await openSolana(t, { accounts, fee: 10_000 });
    const account = relayerAccount({ fee_payment_strategy: 'user', ...policies });
    const transaction = decodeTransaction(built(instructions, { signers }));
    const prices = { market, genesis: 'a chain' };
    await rpc.onOne((read) => assertPaid(read, transaction, { account, prices }));
  }

  t.test('all that goes to the relayer counts, in SOL and in tokens', async (t) => {
    await t.resolves(check(t, [lamports(10_000)]));
    await t.resolves(check(t, [lamports(4_000), lamports(6_000)]));
    await t.resolves(check(t, [payTo(relayerAddress, 20_000n)]));
    await t.resolves(check(t, [lamports(5_000), payTo(relayerAddress, 4_000n), payTo(relayerAddress, 6_000n)]));
    await t.rejects(check(t, [lamports(9_999)]), UNPAID);
    await t.rejects(check(t, [payTo(relayerAddress, 19_999n)]), UNPAID);
    await t.rejects(check(t, [lamports(5_000), payTo(relayerAddress, 9_999n)]), UNPAID);
    await t.rejects(check(t, [], { signers: [] }), UNPAID);
    await t.resolves(
      check(t, [lamports(10_000), payTo(relayerAddress, 1n)], { market: NO_MARKET }),
      'it is asked no more',
    );
  });

  t.test('only the relayer’s associated account is paid, there already or made by the transaction', async (t) => {
    const [source, own] = [new PublicKey(accountOf(userAddress)), new PublicKey(ELSEWHERE)];
    const plain = createTransferInstruction(source, own, USER.publicKey, 20_000n);
    await t.rejects(
      check(t, [plain], { accounts: { ...TOKENS, [ELSEWHERE]: tokensAccount(MINT, relayerAddress, 0n) } }),
      UNPAID,
      'who may close it can make it anew as his own',
    );
    await t.rejects(
      check(t, [plain], { accounts: { ...TOKENS, [ELSEWHERE]: tokensAccount(MINT, keyOf(61), 0n) } }),
      UNPAID,
    );
    const { [accountOf(relayerAddress)]: _, ...without } = TOKENS;
    await t.resolves(check(t, [payTo(relayerAddress, 20_000n)], { accounts: without }));
    await t.rejects(check(t, [payTo(userAddress, 20_000n)]), UNPAID);
  });

  t.test('what leaves the relayer’s own accounts is taken off', async (t) => {
    const accounts = { ...TOKENS, [ELSEWHERE]: tokensAccount(MINT, relayerAddress, 50_000n) };
    const taking = (to: string) =>
      createTransferCheckedInstruction(
        ...([new PublicKey(ELSEWHERE), new PublicKey(MINT), new PublicKey(to), USER.publicKey, 20_000n, 6] as const),
      );
    await t.rejects(check(t, [taking(accountOf(relayerAddress))], { accounts }), UNPAID);
    await t.rejects(check(t, [payTo(relayerAddress, 20_000n), taking(accountOf(userAddress))], { accounts }), UNPAID);
  });

  t.test('what a permanent delegate takes back in the same transaction is not paid', async (t) => {
    const own = new PublicKey(accountOf(relayerAddress));
    const mint = new PublicKey(MINT);
    const delegate = USER.publicKey;
    const { [own.toBase58()]: _, ...without } = TOKENS;
    const takes = {
      burn: createBurnInstruction(own, mint, delegate, 1n),
      'burn-checked': createBurnCheckedInstruction(own, mint, delegate, 1n, 6),
      transfer: createTransferInstruction(own, new PublicKey(accountOf(userAddress)), delegate, 1n),
    };
    for (const [name, take] of Object.entries(takes)) {
      for (const accounts of [TOKENS, without]) {
        await t.rejects(check(t, [payTo(relayerAddress, 20_000n), take], { accounts }), UNPAID, name);
        await t.resolves(check(t, [payTo(relayerAddress, 20_001n), take], { accounts }), name);
      }
    }
    const others = createBurnInstruction(new PublicKey(accountOf(userAddress)), mint, delegate, 1n);
    await t.resolves(check(t, [payTo(relayerAddress, 20_000n), others]), 'others burn what is theirs');
  });

  t.test('what the relayer has signed has its price, and other bounds hold', async (t) => {
    await t.resolves(check(t, [payTo(relayerAddress, 1n)], { signers: [RELAYER, USER] }));
    const policies = { allowed_tokens: [{ mint: MINT, max_allowed_fee: 19_999 }] };
    const tooMuch = { code: -32_013, detail: /Fee amount 20000 of \S+ exceeds max allowed fee amount 19999/ };
    await t.rejects(check(t, [payTo(relayerAddress, 20_000n)], { policies }), tooMuch);
    await t.rejects(check(t, [payTo(relayerAddress, 20_000n)], { policies, signers: [RELAYER, USER] }), tooMuch);
    await t.rejects(check(t, [lamports(10_000)], { policies: { max_allowed_fee_lamports: 9_999 } }), { code: -32_013 });
  });

  t.test('what nobody trades pays nothing, and a market in trouble is no reason to guess', async (t) => {
    const refusing = (failure: MarketFailure) => ({ ...NO_MARKET, get: () => Promise.reject(failure) });
    const untraded = refusing(new MarketFailure('not tradable', { code: 'TOKEN_NOT_TRADABLE' }));
    await t.rejects(check(t, [payTo(relayerAddress, 20_000n)], { market: untraded }), UNPAID);
    const trouble = new MarketFailure('gone');
    await t.rejects(check(t, [payTo(relayerAddress, 20_000n)], { market: refusing(trouble) }), trouble);
  });
});

t.test('price', async (t) => {
  const MINT = keypair(1).publicKey.toBase58();
  const DEVNET = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
  const TESTNET = '4uhcVJyU9pJkvQyUS88uRDiswHXSCkY3zQawwpjk2NsNY';

  t.test('the coin is worth itself, and so is all on chains without a market, by their genesis', async (t) => {
    const policy = readPolicy({});
    for (const mint of [WRAPPED_SOL, SYSTEM_PROGRAM]) {
      t.equal(await lamportsInToken({ market: NO_MARKET, genesis: 'any' }, mint, 7n, policy), 7n);
    }
    for (const genesis of [DEVNET, TESTNET])
      t.equal(await lamportsInToken({ market: NO_MARKET, genesis }, MINT, 7n, policy), 7n);
    await t.rejects(lamportsInToken({ market: NO_MARKET, genesis: 'devnet' }, MINT, 7n, policy), {
      name: 'MarketFailure',
    });
  });

  t.test('a token’s own slippage is asked for, else one percent', async (t) => {
    const asked: (string | undefined)[] = [];
    const market = {
      ...NO_MARKET,
      get: async (_path: string, query: Readonly<Record<string, string>>) => {
        asked.push(query['slippageBps']);
        return { inputMint: WRAPPED_SOL, inAmount: '7', outputMint: MINT, outAmount: '9' };
      },
    };
    const listed = readPolicy({ allowed_tokens: [{ mint: MINT, swap_config: { slippage_percentage: 0.5 } }] });
    t.equal(await lamportsInToken({ market, genesis: 'any' }, MINT, 7n, listed), 10n);
    t.equal(await lamportsInToken({ market, genesis: 'any' }, MINT, 7n, readPolicy({})), 10n);
    t.strictSame(asked, ['50', '100']);
  });
});

t.test('fee', async (t) => {
  const MAKING = createAssociatedTokenAccountIdempotentInstruction(
    ...([
      new PublicKey(relayerAddress),
      new PublicKey(accountOf(keyOf(50))),
      new PublicKey(keyOf(50)),
      new PublicKey(MINT),
    ] as const),
  );

  async function price(
    t: Test,
    policies: JsonObject,
    instructions = [memo('x')],
    fee: number | null = 5_000,
  ): Promise<bigint> {
    const { rpc } = await openSolana(t, { accounts: TOKENS, fee, prices: [5_000_000] });
    const { message } = decodeTransaction(built(instructions));
    return rpc.onOne((read) => sponsoredPriceOf(read, message, message.keys, readPolicy(policies)));
  }

  t.test(
    'a price is the network’s fee, rent and the margin on both; what others pay for priority is none of it',
    async (t) => {
      t.equal(await price(t, {}), 5_000n);
      t.equal(await price(t, {}, [memo('x'), MAKING]), 5_000n + BigInt((165 + 128) * 6_960));
      t.equal(await price(t, { fee_margin_percentage: 10 }), 5_500n);
      t.equal(await price(t, { fee_margin_percentage: 0.1 }), 5_005n);
      t.equal(await price(t, {}, [memo('x')], null), 5_000n, 'a node that does not know the blockhash');
    },
  );

  t.test('a price above the cap is refused', async (t) => {
    t.equal(await price(t, { max_allowed_fee_lamports: 5_000 }), 5_000n);
    await t.rejects(price(t, { max_allowed_fee_lamports: 4_999 }), {
      code: -32_013,
      detail: 'Policy violation: Fee amount 5000 exceeds max allowed fee amount 4999',
    });
  });
});

t.test('a token is what the chain says it is, the coin needs no question', async (t) => {
  const { rpc } = await openSolana(t, { accounts: TOKENS, balance: 77 });
  const open = readPolicy({});
  await rpc.onOne(async (read) => {
    const token = await readSponsoredAsset(read, MINT, open);
    t.match(token, { address: MINT, decimals: 6, mint: { address: MINT } });
    t.equal(await walletBalanceOf(read, token, userAddress), 100_000_000n);
    t.equal(await isAccountMissing(read, token, userAddress), false);
    t.equal(await isAccountMissing(read, token, keyOf(50)), true);
    t.equal(grossAmountOf(token, 5n), 5n);
    t.match(String(transferInstructionOf(token, userAddress, keyOf(50), 5n).keys[0]?.pubkey), accountOf(userAddress));
    await t.rejects(walletBalanceOf(read, token, keyOf(50)), { tag: 'PREPARATION_ERROR', code: -32_601 });

    const coin = await readSponsoredAsset(read, SYSTEM_PROGRAM, readPolicy({ allowed_tokens: [{ mint: MINT }] }));
    t.strictSame(coin, { address: SYSTEM_PROGRAM, decimals: 9, mint: null });
    t.equal(await walletBalanceOf(read, coin, userAddress), 77n);
    t.equal(await isAccountMissing(read, coin, userAddress), false);
    t.equal(grossAmountOf(coin, 5n), 5n);
    t.equal(String(transferInstructionOf(coin, userAddress, keyOf(50), 5n).programId), SYSTEM_PROGRAM);
  });
});

t.test('what is no token, or not allowed, is refused', async (t) => {
  const { rpc } = await openSolana(t, { accounts: TOKENS });
  const ask = (address: string, policies = {}) =>
    rpc.onOne((read) => readSponsoredAsset(read, address, readPolicy(policies)));
  await t.rejects(ask('x'), { code: -32_602, message: '"x" is not an address' });
  await t.rejects(ask(keyOf(50)), { code: -32_601, message: /is no token$/ });
  await t.rejects(ask(MINT, { allowed_tokens: [{ mint: keyOf(50) }] }), {
    code: -32_013,
    message: /not allowed for transfers/,
  });
});

t.test('supported', async (t) => {
  const account = relayerAccount({
    allowed_tokens: [
      { mint: MINT, decimals: 2, symbol: 'USD', max_allowed_fee: '18446744073709551615' },
      { mint: keyOf(50), swap_config: { slippage_percentage: 0.5 } },
    ],
  });

  t.test('tokens are as the chain knows them, else as the policies say', async (t) => {
    const { rpc } = await openSolana(t, { accounts: TOKENS });
    const [first, second] = (await supportedTokens(rpc, account))['tokens'] as unknown[];
    t.strictSame(first, {
      mint: MINT,
      symbol: 'USD',
      decimals: 6,
      max_allowed_fee: 2n ** 64n - 1n,
      conversion_slippage_percentage: 1,
    });
    t.strictSame(second, {
      mint: keyOf(50),
      symbol: '',
      decimals: 0,
      max_allowed_fee: null,
      conversion_slippage_percentage: 0.5,
    });
    t.strictSame(await supportedTokens(rpc, relayerAccount()), { tokens: [] });
  });

  t.test('where no node answers the policies still do', async (t) => {
    const { rpc } = await openSolana(t, () => ({ status: 503 }));
    t.match(await supportedTokens(rpc, account), { tokens: [{ symbol: 'USD', decimals: 2 }, { decimals: 0 }] });
  });
});

t.test('metadata', async (t) => {
  const METADATA_PROGRAM = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s';
  const MINT = keypair(3).publicKey;

  function sized(text: string, length = Buffer.byteLength(text)): Buffer {
    const head = Buffer.alloc(4);
    head.writeUInt32LE(length);
    return Buffer.concat([head, Buffer.from(text.padEnd(length, '\0'))]);
  }

  /** Metadata as Metaplex writes it: padded with zeros. */
  const metaplex = (symbol: string, owner = METADATA_PROGRAM) => ({
    lamports: 1n,
    owner,
    isExecutable: false,
    data: Buffer.concat([Buffer.alloc(65, 4), sized('A token', 32), sized(symbol, 10), sized('', 200)]),
  });

  const mint = (extension?: Buffer): Mint => ({
    ...{
      address: MINT.toBase58(),
      program: TOKEN_PROGRAM,
      decimals: 6,
      fees: [],
      hasHook: false,
      permanentDelegate: null,
      accountSize: 165,
    },
    extensions: new Map(extension === undefined ? [] : [[MINT_EXTENSIONS.metadata, extension]]),
  });

  t.test('Metaplex keeps it where the public client finds it', async (t) => {
    const program = new PublicKey(METADATA_PROGRAM);
    const seeds = [Buffer.from('metadata'), program.toBuffer(), MINT.toBuffer()];
    t.equal(metadataAddress(MINT.toBase58()), PublicKey.findProgramAddressSync(seeds, program)[0].toBase58());
  });

  t.test('a symbol is Metaplex’s, or the token’s own before it', async (t) => {
    t.equal(symbolOf(mint(), metaplex('USD')), 'USD');
    const own = Buffer.concat([Buffer.alloc(64, 1), sized('Euro'), sized('EUR'), sized('https://x')]);
    t.equal(symbolOf(mint(own), metaplex('USD')), 'EUR');
    t.equal(symbolOf(mint(own), null), 'EUR');
  });

  t.test('what anybody may have written is no symbol', async (t) => {
    t.equal(symbolOf(mint(), null), undefined);
    t.equal(symbolOf(mint(), metaplex('')), undefined);
    t.equal(symbolOf(mint(), metaplex('USD', TOKEN_PROGRAM)), undefined);
    t.equal(symbolOf(mint(), metaplex('a\u001b[2J')), undefined);
    t.equal(symbolOf(mint(), { ...metaplex('x'), data: Buffer.alloc(66) }), undefined);
    const long = Buffer.concat([Buffer.alloc(65), sized('A'), sized('x'.repeat(33))]);
    t.equal(symbolOf(mint(), { ...metaplex('x'), data: long }), undefined);
    const cut = Buffer.concat([Buffer.alloc(65), sized('A'), sized('USD').subarray(0, 5)]);
    t.equal(symbolOf(mint(), { ...metaplex('x'), data: cut }), undefined);
  });
});

t.test('form', async (t) => {
  const refusal = (schema: Parameters<typeof readParams>[0], params: Json): string => {
    try {
      readParams(schema, params);
    } catch (error) {
      return String(error);
    }
    return 'taken';
  };

  const transfer = (amount: Json) => ({ amount, token: 't', source: 's', destination: 'd' });

  t.test('parameters are objects with just these fields', async (t) => {
    t.strictSame(readParams(sponsoredSchema, { transaction: 'a', fee_token: 'b' }), {
      transaction: 'a',
      fee_token: 'b',
    });
    t.strictSame(readParams(noParamsSchema, {}), {});
    const starts = /Invalid Solana RPC request: /;
    for (const params of [null, [], 'x', { transaction: 'a' }, { transaction: 1, fee_token: 'b' }]) {
      t.match(refusal(sponsoredSchema, params), starts);
    }
    t.match(refusal(sponsoredSchema, { transaction: 'a', fee_token: 'b', feeToken: 'c' }), /unknown field `feeToken`/);
    t.match(refusal(noParamsSchema, { a: 1 }), starts);
    t.match(refusal(noParamsSchema, null), starts);
  });

  t.test('an amount is an integer of 64 bits, never a text', async (t) => {
    t.equal(readParams(transferSchema, transfer(5)).amount, 5n);
    t.equal(readParams(transferSchema, transfer(0)).amount, 0n);
    // JSON numbers beyond 2^53 keep their digits here.
    t.equal(readParams(transferSchema, transfer('18446744073709551615')).amount, 2n ** 64n - 1n);
    for (const amount of ['5', '9007199254740991', '18446744073709551616', -1, 1.5, '-5', null, true, 1e300]) {
      t.match(refusal(transferSchema, transfer(amount)), /Invalid Solana RPC request: .*amount/, String(amount));
    }
  });
});

t.test('amounts in whole units have the decimals that they need', async (t) => {
  t.equal(unitsText(1_000_000n, 6), '1');
  t.equal(unitsText(1_500_000n, 6), '1.5');
  t.equal(unitsText(5n, 9), '0.000000005');
  t.equal(unitsText(0n, 9), '0');
  t.equal(unitsText(7n, 0), '7');
  t.equal(unitsText(2n ** 64n - 1n, 9), '18446744073.709551615');
});

t.test('rates never have an exponent', async (t) => {
  t.equal(tokensPerSolText(200n, 6, 1_000n), '200');
  t.equal(tokensPerSolText(1n, 9, 1n), '1');
  t.equal(tokensPerSolText(1n, 9, 3n), '0.3333333333333333');
  t.equal(tokensPerSolText(5n, 9, 10_000_000n), '0.0000005');
  t.equal(tokensPerSolText(125n, 9, 100_000_000_000n), '0.00000000125');
  t.equal(tokensPerSolText(10n ** 24n, 0, 1_000_000_000n), '1000000000000000000000000');
  t.equal(tokensPerSolText(15n * 10n ** 22n, 0, 1_000_000_000n), '150000000000000000000000');
});

t.test('errors', async (t) => {
  const failing = (error: Error) => async (): Promise<never> => {
    throw error;
  };

  t.test('each failure has the code, the tag and the text that clients know', async (t) => {
    const refusals: [Error, object][] = [
      [
        invalidRequest('Policy violation: x'),
        {
          code: -32_013,
          tag: 'PREPARATION_ERROR',
          message: 'Failed to prepare the transfer transaction: Policy violation: x',
        },
      ],
      [
        new MalformedTransaction('short'),
        {
          code: -32_601,
          tag: 'INVALID_PARAMS',
          message: 'The transaction parameter is invalid or missing: Malformed transaction: short',
        },
      ],
      [invalidRequest('m', new MalformedTransaction('short')), { code: -32_601 }],
      [
        new RpcError('timeout', 'no answer'),
        { code: -32_006, tag: 'PREPARATION_ERROR', message: 'Failed to prepare the transfer transaction: no answer' },
      ],
      [new AppError('PROVIDER_FAILED', { network: 'n', reason: 'r' }), { code: -32_006 }],
      [
        new MarketFailure('gone'),
        {
          code: -32_001,
          tag: 'ESTIMATION_ERROR',
          message: 'Failed to estimate the fee due to internal or network issues: gone',
        },
      ],
      [new AppError('SIGNER_FAILED', { id: 's', reason: 'r' }), { code: -32_005, tag: 'SIGNATURE_ERROR' }],
    ];
    for (const [error, expected] of refusals) {
      await t.rejects(withGaslessRefusals(failing(error)), { name: 'OwnRefusal', ...expected, cause: error });
    }
    t.match(gaslessRefusalOf(new RpcError('timeout', 'no answer'), 'estimation'), { code: -32_001 });
    t.match(new GaslessRefusal('funds', 'x'), { code: -32_002, tag: 'INSUFFICIENT_FUNDS' });
    t.match(new GaslessRefusal('token', 'x'), { code: -32_601, tag: 'PREPARATION_ERROR' });
    t.match(new GaslessRefusal('send', 'x'), { code: -32_006, tag: 'SEND_ERROR' });
    t.match(new GaslessRefusal('params', 'x'), { code: -32_602, tag: 'INVALID_PARAMS', message: 'x', detail: 'x' });
  });

  t.test('what is none of the caller’s business stays what it is', async (t) => {
    for (const error of [new Error('a fault'), new AppError('RELAYER_PAUSED', {})]) {
      await t.rejects(withGaslessRefusals(failing(error)), error);
      t.equal(gaslessRefusalOf(error), undefined);
    }
    const refusal = new GaslessRefusal('params', 'x');
    t.equal(gaslessRefusalOf(refusal), refusal);
    t.equal(
      gaslessRefusalOf(invalidRequest('x', refusal)),
      refusal,
      'it comes through an endpoint that is no JSON-RPC',
    );
  });

  t.test('endpoints that are no JSON-RPC say the same in their own way', async (t) => {
    await t.rejects(withApiErrors(failing(new GaslessRefusal('params', 'unpaid'))), {
      code: 'INVALID_REQUEST',
      message: 'unpaid',
    });
    await t.rejects(withApiErrors(failing(new GaslessRefusal('funds', 'poor'))), {
      code: 'INVALID_REQUEST',
      message: 'poor',
    });
    for (const error of [
      invalidRequest('Policy violation: x'),
      new AppError('SIGNER_FAILED', { id: 's', reason: 'r' }),
      new RpcError('timeout', 'no answer'),
      new Error('a fault'),
    ]) {
      await t.rejects(withApiErrors(failing(error)), error);
    }
    await t.rejects(withApiErrors(failing(new MarketFailure('gone'))), {
      code: 'UNAVAILABLE',
      status: 503,
      message: 'The market gave no price: gone',
    });
    const untraded = new MarketFailure('not tradable', { code: 'TOKEN_NOT_TRADABLE' });
    await t.rejects(withApiErrors(failing(untraded)), { code: 'INVALID_REQUEST', message: 'not tradable' });
    t.equal(await withApiErrors(async () => 7), 7);
  });
});

t.test('jupiter', async (t) => {
  const MINT = keypair(1).publicKey.toBase58();

  const jupiter = await startJupiter(t);
  const http = createMarketHttp();
  t.teardown(() => http.close());
  const market = createMarketClient({ url: jupiter.url, apiKey: 'k', http, timeoutMs: 300 });

  t.test('lamports are worth what the market says, at the slippage that was asked for', async (t) => {
    jupiter.price(MINT, 2);
    t.equal(await quoteTokensFor(market, MINT, 1_000n, 0.5), 2_000n);
    const query = new URL(jupiter.requests.at(-1) ?? '', jupiter.url).searchParams;
    t.strictSame(Object.fromEntries(query), {
      inputMint: 'So11111111111111111111111111111111111111112',
      outputMint: MINT,
      amount: '1000',
      slippageBps: '50',
      swapMode: 'ExactIn',
    });
  });

  t.test('a token that nobody trades, or too few lamports, have no price', async (t) => {
    const other = keypair(2).publicKey.toBase58();
    await t.rejects(quoteTokensFor(market, other, 1_000n, 1), { name: 'MarketFailure', code: 'TOKEN_NOT_TRADABLE' });
    jupiter.price(MINT, 1e-9);
    await t.rejects(quoteTokensFor(market, MINT, 1_000n, 1), { code: 'COULD_NOT_FIND_ANY_ROUTE' });
  });

  t.test('a market that asks for a key, or has trouble, tells no price', async (t) => {
    jupiter.price(MINT, 2);
    jupiter.requireKey('another');
    await t.rejects(quoteTokensFor(market, MINT, 1n, 1), { message: 'it answered with status 401: Unauthorized' });
    jupiter.requireKey('k');
    t.equal(await quoteTokensFor(market, MINT, 1n, 1), 3n, 'a unit that was rounded away is paid');
    const failures = [
      ['silence', 'no answer within 300 ms'],
      ['error', 'it answered with status 500: Internal server error'],
      ['limit', 'it answered with status 429: Too many requests'],
      ['nonsense', 'its answer is not JSON'],
      ['other', 'its quote is for something else'],
    ] as const;
    for (const [how, message] of failures) {
      jupiter.fail(how);
      await t.rejects(quoteTokensFor(market, MINT, 1n, 1), { name: 'MarketFailure', message });
    }
    jupiter.fail(null);
  });

  t.test('an answer of another form is none', async (t) => {
    const answering = (answer: object) => ({ get: async () => answer as never, post: async () => null });
    await t.rejects(quoteTokensFor(answering({}), MINT, 1n, 1), { message: 'its quote is invalid' });
    const empty = { inputMint: 'So11111111111111111111111111111111111111112', inAmount: '1', outputMint: MINT };
    await t.rejects(quoteTokensFor(answering({ ...empty, outAmount: '0' }), MINT, 1n, 1), {
      message: `1 lamports are worth less than the least amount of ${MINT}`,
    });
  });
});
