/**
 * Users without SOL let a relayer pay for their transactions, and pay it in tokens. Uses the public client and a real
 * SVM. Prices come from a double of Jupiter.
 */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createTransferCheckedInstruction,
} from '@solana/spl-token';
import {
  AddressLookupTableProgram,
  Keypair,
  NonceAccount,
  type PublicKey,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import t, { type Test } from 'tap';
import { gaslessStage } from '../support/gasless-stage.ts';
import { anyone, transfer } from '../support/svm-scene.ts';
import { makeToken } from '../support/token-scene.ts';

const stage = await gaslessStage(t);
const { connection, funded, relayer, svm, usd, jupiter, sdk, rent } = stage;
const { ask, built, draft, land, pay, policies, post, refusal, rpc, signed, signedBy, tickUntil, user } = stage;

const USD = usd.mint.toBase58();
const UNPAID = "Transaction doesn't contain required fee payment instruction or payment amount is insufficient";
/** The fee of two signatures in lamports, and its price in tokens. */
const FEE = 10_000;
const PRICE = BigInt(FEE / 5);

/** A payment to somebody who has a token account. */
async function payment(
  amount = 1_000n,
): Promise<{ wallet: Keypair; to: PublicKey; asked: { transaction: string; fee_token: string } }> {
  const [wallet, to] = [await user(), anyone()];
  await usd.give(to, 1n);
  return { wallet, to, asked: { transaction: await draft(wallet.publicKey, pay(wallet, to, amount)), fee_token: USD } };
}

/** Base64 of a payment that the user has built and signed. It pays these amounts to the relayer. */
async function paid(...amounts: bigint[]): Promise<string> {
  const { wallet, to } = await payment();
  const fees = amounts.map((amount) => pay(wallet, relayer, amount));
  return built([wallet], ...fees, pay(wallet, to, 1_000n));
}

await usd.give(relayer, 1n);

t.test('what is enabled, and which tokens fees can be paid in', async (t) => {
  const listed = { mint: USD, max_allowed_fee: 5_000, swap_config: { slippage_percentage: 0.5 } };
  await policies({ allowed_tokens: [listed, { mint: anyone().toBase58(), decimals: 3, symbol: 'X' }] });
  t.strictSame(await rpc('getFeaturesEnabled', {}), {
    jsonrpc: '2.0',
    id: 7,
    result: { method: 'getFeaturesEnabled', features: ['gasless'] },
  });
  t.match(await rpc('getSupportedFeatures', {}), {
    result: { method: 'getSupportedFeatures', features: ['gasless'] },
  });
  const { result } = await rpc('getSupportedTokens', {});
  t.equal(result.method, 'getSupportedTokens');
  t.match(result.tokens, [
    { mint: USD, symbol: '', decimals: 6, max_allowed_fee: 5_000, conversion_slippage_percentage: 0.5 },
    { symbol: 'X', decimals: 3, max_allowed_fee: null, conversion_slippage_percentage: 1 },
  ]);
});

t.test('a user without SOL pays in tokens for a transaction, and has it sent', async (t) => {
  await policies();
  const { wallet, to, asked } = await payment();
  t.strictSame((await rpc('feeEstimate', asked)).result, {
    method: 'feeEstimate',
    estimated_fee: '0.002',
    conversion_rate: '200',
  });
  const { result: prepared } = await rpc('prepareTransaction', asked);
  t.match(prepared, {
    method: 'prepareTransaction',
    fee_in_lamports: String(FEE),
    fee_in_spl: String(PRICE),
    fee_token: USD,
    valid_until_blockheight: Number,
  });
  const [before, tokens] = [await connection.getBalance(relayer), (await usd.held(relayer)) ?? 0n];
  const sent = await rpc('signAndSendTransaction', { transaction: signedBy(wallet, prepared.transaction) });
  t.match(sent.result, { method: 'signAndSendTransaction', id: String, signature: String, transaction: String });
  await tickUntil(sent.result.id, 'confirmed');
  t.equal(await usd.held(to), 1_001n);
  t.equal(await usd.held(relayer), tokens + PRICE);
  t.equal(before - (await connection.getBalance(relayer)), FEE);
});

t.test('what is prepared can be sent by its user, and by the endpoint for that', async (t) => {
  await policies();
  const first = await payment();
  const { result: prepared } = await rpc('prepareTransaction', first.asked);
  await land(Buffer.from(signedBy(first.wallet, prepared.transaction), 'base64'));
  t.equal(await usd.held(first.to), 1_001n);
  const second = await payment();
  const { data } = await sdk.buildSponsoredTransaction('local-1', second.asked);
  const { transaction } = data.data as unknown as { transaction: string };
  await tickUntil(await stage.send({ transaction: signedBy(second.wallet, transaction) }), 'confirmed');
  t.equal(await usd.held(second.to), 1_001n);
});

t.test('a quote and what is built without JSON-RPC are the same', async (t) => {
  await policies();
  const { asked } = await payment();
  const { data: quoted } = await sdk.quoteSponsoredTransaction('local-1', asked);
  t.strictSame(quoted.data, { estimated_fee: '0.002', conversion_rate: '200' });
  const { data: made } = await sdk.buildSponsoredTransaction('local-1', asked);
  t.match(made.data, { fee_in_spl: String(PRICE), fee_in_lamports: String(FEE), fee_token: USD, transaction: String });
  const bad = await ask('POST', '/transactions/sponsored/quote', { transaction: 'x', fee_token: USD });
  t.match(bad, { status: 400, body: { error: /Malformed transaction/ } });
  const unknown = await ask('POST', '/transactions/sponsored/build', { ...asked, fee: 1 });
  t.match(unknown, { status: 400, body: { error: /unknown field `fee`/ } });
});

t.test('tokens are transferred for a user, also to one who never had any', async (t) => {
  await policies();
  const [wallet, to] = [await user(), Keypair.generate().publicKey];
  const asked = { amount: 5_000, token: USD, source: wallet.publicKey.toBase58(), destination: to.toBase58() };
  const { result } = await rpc('transferTransaction', asked);
  t.match(result, { method: 'transferTransaction', fee_in_lamports: String(FEE + rent), fee_token: USD });
  const { result: sent } = await rpc('signAndSendTransaction', { transaction: signedBy(wallet, result.transaction) });
  await tickUntil(sent.id, 'confirmed');
  t.equal(await usd.held(to), 5_000n);
  t.equal(await usd.held(wallet.publicKey), 10_000_000n - 5_000n - BigInt(result.fee_in_spl));
  const again = await rpc('transferTransaction', asked);
  t.equal(again.result.fee_in_lamports, String(FEE), 'the account is there now');
});

t.test('SOL is a token too', async (t) => {
  await policies({ allowed_tokens: [{ mint: USD }] });
  const [wallet, to] = [await funded(), anyone()];
  const native = SystemProgram.programId.toBase58();
  const asked = { amount: 5_000_000, token: native, source: wallet.publicKey.toBase58(), destination: to.toBase58() };
  const { result } = await rpc('transferTransaction', asked);
  t.match(result, { fee_in_spl: String(FEE), fee_in_lamports: String(FEE), fee_token: native });
  const { result: sent } = await rpc('signAndSendTransaction', { transaction: signedBy(wallet, result.transaction) });
  await tickUntil(sent.id, 'confirmed');
  t.equal(await connection.getBalance(to), 5_000_000);
  const estimate = await rpc('feeEstimate', {
    transaction: await draft(wallet.publicKey, transfer(wallet, to, 1)),
    fee_token: native,
  });
  t.match(estimate.result, { estimated_fee: '0.00001', conversion_rate: '1' });
});

t.test('what a user signed without the relayer pays enough, or is refused everywhere', async (t) => {
  await policies();
  const transaction = await paid(PRICE - 1n);
  t.equal(await refusal('signTransaction', { transaction }), `-32602 INVALID_PARAMS ${UNPAID}`);
  t.equal(await refusal('signAndSendTransaction', { transaction }), `-32602 INVALID_PARAMS ${UNPAID}`);
  t.match(await post({ transaction }), { status: 400, body: { error: UNPAID } });
  t.match(await ask('POST', '/sign-transaction', { transaction }), { status: 400, body: { error: UNPAID } });

  const enough = await paid(PRICE);
  const { result } = await rpc('signTransaction', { transaction: enough });
  t.match(result, { method: 'signTransaction', signature: String, transaction: String });
  t.match(await ask('POST', '/sign-transaction', { transaction: enough }), {
    status: 200,
    body: { data: { signature: result.signature } },
  });
  await tickUntil(await stage.send({ transaction: await paid(PRICE) }), 'confirmed');
});

t.test('a fee in several parts is their sum, in SOL and in tokens', async (t) => {
  await policies();
  await tickUntil(await stage.send({ transaction: await paid(PRICE / 2n, PRICE / 2n) }), 'confirmed');
  const wallet = await funded();
  const lamports = (amount: number) => transfer(wallet, relayer, amount);
  const mixed = await built([wallet], lamports(1), lamports(FEE - 1), transfer(wallet, anyone(), 2_000_000));
  await tickUntil(await stage.send({ transaction: mixed }), 'confirmed');
  await usd.give(wallet.publicKey, 10_000n);
  const both = await built([wallet], lamports(FEE / 2), pay(wallet, relayer, PRICE / 2n));
  await tickUntil(await stage.send({ transaction: both }), 'confirmed');
  const short = await built([wallet], lamports(FEE / 2 - 1), pay(wallet, relayer, PRICE / 2n));
  t.match(await post({ transaction: short }), { status: 400, body: { error: UNPAID } });
});

t.test(
  'after a price has moved, what the relayer signed keeps the old price and all else pays the new one',
  async (t) => {
    await policies();
    t.teardown(() => jupiter.price(USD, 0.2));
    const { wallet, asked } = await payment();
    const { result } = await rpc('prepareTransaction', asked);
    const own = await paid(PRICE);
    jupiter.price(USD, 0.4);
    t.match(await post({ transaction: own }), { status: 400, body: { error: UNPAID } });
    await tickUntil(await stage.send({ transaction: signedBy(wallet, result.transaction) }), 'confirmed');
    await policies({ max_signatures: 1 });
    const other = await post({ transaction: signedBy(wallet, result.transaction) });
    t.match(other, { status: 400, body: { error: /requires 2 signatures/ } }, 'policies hold for it all the same');
  },
);

t.test('a token that takes a part of each transfer is counted by what arrives', async (t) => {
  await policies();
  const taxed = await makeToken(stage, { fee: { basisPoints: 100, most: 1_000_000n } });
  jupiter.price(taxed.mint.toBase58(), 1);
  const wallet = Keypair.generate();
  await taxed.give(wallet.publicKey, 10_000_000n);
  const asked = {
    amount: 1_000,
    token: taxed.mint.toBase58(),
    source: wallet.publicKey.toBase58(),
    destination: wallet.publicKey.toBase58(),
  };
  const { result } = await rpc('transferTransaction', asked);
  const size = await connection.getMinimumBalanceForRentExemption(182);
  t.equal(result.fee_in_lamports, String(FEE + size), 'the account of the relayer is larger than others');
  const { result: sent } = await rpc('signAndSendTransaction', { transaction: signedBy(wallet, result.transaction) });
  await tickUntil(sent.id, 'confirmed');
  t.ok(((await taxed.held(relayer)) ?? 0n) >= BigInt(FEE + size));
  t.ok(((await taxed.held(relayer)) ?? 0n) <= BigInt(FEE + size) + 1n);

  const own = (amount: bigint) =>
    built(
      [wallet],
      createTransferCheckedInstruction(
        ...([taxed.accountOf(wallet.publicKey), taxed.mint, taxed.accountOf(relayer), wallet.publicKey] as const),
        ...([amount, taxed.decimals, undefined, taxed.program] as const),
      ),
    );
  t.match(await post({ transaction: await own(BigInt(FEE)) }), { status: 400, body: { error: UNPAID } });
  t.equal((await post({ transaction: await own(10_102n) })).status, 200);
});

t.test('an account counts as the relayer’s by who owns it, and its own tokens pay nothing', async (t) => {
  await policies();
  const [wallet, other] = [await user(), await user()];
  const elsewhere = await built([wallet], pay(wallet, other.publicKey, 1_000_000n));
  t.match(await post({ transaction: elsewhere }), { status: 400, body: { error: UNPAID } });
});

t.test('a margin is put on top of the fee', async (t) => {
  await policies({ fee_margin_percentage: 50 });
  const { asked } = await payment();
  t.match((await rpc('prepareTransaction', asked)).result, { fee_in_lamports: '15000', fee_in_spl: '3000' });
  t.match(await refusal('signTransaction', { transaction: await paid(PRICE) }), UNPAID);
});

t.test('who cannot pay is told so before anything is signed', async (t) => {
  await policies();
  const poor = await user(100n);
  const transaction = await draft(poor.publicKey, pay(poor, relayer, 1n));
  t.match(
    await refusal('prepareTransaction', { transaction, fee_token: USD }),
    /^-32002 INSUFFICIENT_FUNDS .* has 100 of/,
  );
  const broke = Keypair.generate();
  const without = await draft(broke.publicKey, transfer(broke, relayer, 1));
  t.match(
    await refusal('prepareTransaction', { transaction: without, fee_token: USD }),
    /^-32601 PREPARATION_ERROR .*has no account/,
  );
  const source = poor.publicKey.toBase58();
  const all = { amount: 99, token: USD, source, destination: relayer.toBase58() };
  t.match(await refusal('transferTransaction', all), /^-32002 .* 2099 are needed/, 'the transfer and its fee');
});

t.test('parameters of another form are the client’s mistake', async (t) => {
  await policies();
  const { asked } = await payment();
  const bad: [string, unknown][] = [
    ['getFeaturesEnabled', { a: 1 }],
    ['getSupportedTokens', undefined],
    ['feeEstimate', { transaction: asked.transaction }],
    ['prepareTransaction', { ...asked, fee: 1 }],
    ['signTransaction', []],
    ['signAndSendTransaction', { transaction: 7 }],
    ['transferTransaction', { amount: '5', token: USD, source: USD, destination: USD }],
  ];
  for (const [method, params] of bad) {
    const answer = await ask('POST', '/rpc', { method, params });
    t.match(answer, { status: 400, body: { error: /^Invalid Solana RPC request: / } }, method);
  }
});

t.test('what cannot be done is refused with the code and the tag that clients know', async (t) => {
  await policies();
  const { wallet, asked } = await payment();
  const source = wallet.publicKey.toBase58();
  const move = { amount: 1, token: USD, source, destination: anyone().toBase58() };
  const own = await draft(relayer, pay(wallet, relayer, 1n));
  const refusals: [string, unknown, RegExp][] = [
    ['transferTransaction', { ...move, source: 'x' }, /^-32602 INVALID_PARAMS "x" is not an address$/],
    [
      'transferTransaction',
      { ...move, source: relayer.toBase58() },
      /^-32602 INVALID_PARAMS The relayer cannot pay itself$/,
    ],
    ['transferTransaction', { ...move, amount: 0 }, /^-32013 PREPARATION_ERROR Failed to prepare .*greater than 0$/],
    [
      'transferTransaction',
      { ...move, token: source },
      /^-32601 PREPARATION_ERROR Invalid Token Account: .* is no token$/,
    ],
    ['prepareTransaction', { ...asked, fee_token: '0x' }, /^-32602 INVALID_PARAMS/],
    ['prepareTransaction', { ...asked, transaction: own }, /^-32602 INVALID_PARAMS The relayer cannot pay itself$/],
    [
      'prepareTransaction',
      { ...asked, transaction: 'AQAB' },
      /^-32601 INVALID_PARAMS The transaction parameter is invalid or missing: Malformed/,
    ],
    [
      'signTransaction',
      { transaction: '====' },
      /^-32601 INVALID_PARAMS The transaction parameter is invalid or missing: Malformed/,
    ],
    [
      'signTransaction',
      { transaction: asked.transaction },
      /^-32013 PREPARATION_ERROR .*Fee payer \S+ does not match relayer address/,
    ],
  ];
  for (const [method, params, reason] of refusals) t.match(await refusal(method, params), reason);
});

t.test('a market in trouble, or a token without one, is no reason to guess', async (t) => {
  await policies();
  t.teardown(() => jupiter.fail(null));
  const { asked } = await payment();
  for (const how of ['error', 'limit', 'nonsense', 'other'] as const) {
    jupiter.fail(how);
    t.match(
      await refusal('feeEstimate', asked),
      /^-32001 ESTIMATION_ERROR Failed to estimate the fee due to internal or network issues: /,
    );
    t.match(await ask('POST', '/transactions/sponsored/quote', asked), { status: 503 });
  }
  jupiter.fail(null);
  const untraded = await makeToken(stage);
  const other = { ...asked, fee_token: untraded.mint.toBase58() };
  await untraded.give(relayer, 1n);
  t.match(await refusal('feeEstimate', other), /^-32001 ESTIMATION_ERROR .*not tradable/);
  t.match(await ask('POST', '/transactions/sponsored/quote', other), { status: 400, body: { error: /not tradable/ } });
});

t.test('a node that does not answer does not make an account count as missing', async (t) => {
  await policies();
  t.teardown(() => svm.clearFaults());
  const wallet = await user();
  const move = { amount: 1, token: USD, source: wallet.publicKey.toBase58(), destination: anyone().toBase58() };
  await svm.fault({
    methods: ['getMultipleAccounts'],
    act: { kind: 'error', code: -32_603, message: 'Internal error' },
  });
  t.match(await refusal('transferTransaction', move), /^-32006 PREPARATION_ERROR /);
  await svm.clearFaults();
  const { result } = await rpc('transferTransaction', move);
  const { instructions } = Transaction.from(Buffer.from(result.transaction, 'base64'));
  const creation = instructions.find(({ data, keys }) => keys.length === 6 && data.length === 1);
  t.equal(creation?.data[0], 1, 'it does nothing where somebody else was sooner');
});

t.test('under a durable nonce nothing is signed to be kept, and what is sent is paid behind its advance', async (t) => {
  await policies();
  const [wallet, nonce] = [await funded(), Keypair.generate()];
  await usd.give(wallet.publicKey, 1_000_000n);
  await land(
    await signed(
      [wallet, nonce],
      ...SystemProgram.createNonceAccount({
        fromPubkey: wallet.publicKey,
        noncePubkey: nonce.publicKey,
        authorizedPubkey: wallet.publicKey,
        lamports: await connection.getMinimumBalanceForRentExemption(80),
      }).instructions,
    ),
  );
  await svm.tick(2);
  const account = await connection.getAccountInfo(nonce.publicKey);
  const value = NonceAccount.fromAccountData(account?.data ?? Buffer.alloc(0)).nonce;
  const [advance, to] = [{ noncePubkey: nonce.publicKey, authorizedPubkey: wallet.publicKey }, anyone()];
  const transaction = new Transaction({ feePayer: wallet.publicKey, recentBlockhash: value }).add(
    SystemProgram.nonceAdvance(advance),
    transfer(wallet, to, 2_000_000),
  );
  const base64 = transaction.serialize({ verifySignatures: false, requireAllSignatures: false }).toString('base64');
  const never = { error: { code: -32_013, description: /nothing is signed under a durable nonce/ } };
  t.match(await rpc('prepareTransaction', { transaction: base64, fee_token: USD }), never);
  const paying = new Transaction({ feePayer: relayer, recentBlockhash: value }).add(
    SystemProgram.nonceAdvance(advance),
    pay(wallet, relayer, BigInt(PRICE)),
    transfer(wallet, to, 2_000_000),
  );
  paying.partialSign(wallet);
  const signed64 = paying.serialize({ requireAllSignatures: false }).toString('base64');
  t.match(await rpc('signTransaction', { transaction: signed64 }), never);
  await svm.expireBlockhashes();
  const { result: sent } = await rpc('signAndSendTransaction', { transaction: signed64 });
  await tickUntil(sent.id, 'confirmed');
  t.equal(await connection.getBalance(to), 2_000_000);
});

t.test('what a user’s lookup table names can be paid with', async (t) => {
  await policies();
  const [wallet, to, key] = [await user(), anyone(), Keypair.generate().publicKey];
  await usd.give(to, 1n);
  const meta = Buffer.alloc(56);
  meta.writeUInt32LE(1);
  meta.writeBigUInt64LE(2n ** 64n - 1n, 4);
  const addresses = [usd.mint, usd.accountOf(to), usd.accountOf(relayer)];
  const data = Buffer.concat([meta, ...addresses.map((address) => address.toBuffer())]);
  await svm.setAccount(key.toBase58(), {
    lamports: 10_000_000n,
    data,
    owner: AddressLookupTableProgram.programId.toBase58(),
  });
  await svm.tick(2);
  const table = (await connection.getAddressLookupTable(key)).value;
  if (table === null) throw new Error('there is a table');
  const { blockhash } = await connection.getLatestBlockhash();
  const instructions = [pay(wallet, to, 1_000n)];
  const message = new TransactionMessage({ payerKey: wallet.publicKey, recentBlockhash: blockhash, instructions });
  const draft0 = new VersionedTransaction(message.compileToV0Message([table]));
  t.equal(draft0.message.addressTableLookups.length, 1);
  const base64 = Buffer.from(draft0.serialize()).toString('base64');
  const { result } = await rpc('prepareTransaction', { transaction: base64, fee_token: USD });
  const prepared = VersionedTransaction.deserialize(Buffer.from(result.transaction, 'base64'));
  prepared.sign([wallet]);
  const transaction = Buffer.from(prepared.serialize()).toString('base64');
  const { result: sent } = await rpc('signAndSendTransaction', { transaction });
  await tickUntil(sent.id, 'confirmed');
  t.equal(await usd.held(to), 1_001n);
});

t.test('a plugin calls the same methods, those that sign or send with a grant for that', async (t) => {
  await policies();
  const { wallet, to, asked } = await payment();
  const call = async (plugin: string, method: string, params: object) =>
    (await stage.service.call(plugin, { method, params })).body;
  t.match(await call('asks', 'feeEstimate', asked), { data: { id: 3, result: { estimated_fee: '0.002' } } });
  t.match(await call('asks', 'prepareTransaction', asked), {
    success: false,
    error: /has no grant to sign with relayer local-1/,
  });
  const { data } = await call('acts', 'prepareTransaction', asked);
  t.match(data, { result: { method: 'prepareTransaction', fee_in_spl: String(PRICE) } });
  const transaction = signedBy(wallet, data.result.transaction);
  const refused = await call('asks', 'signAndSendTransaction', { transaction });
  t.match(refused, { success: false, error: /has no grant to send through relayer local-1/ });
  const { data: sent } = await call('acts', 'signAndSendTransaction', { transaction });
  await tickUntil(sent.result.id, 'confirmed');
  t.equal(await usd.held(to), 1_001n);
});

t.test('the relayer pays rent once, and only where it is paid back: who closes an account gains nothing', async (t) => {
  await policies();
  const wallet = await user();
  const making = createAssociatedTokenAccountIdempotentInstruction(
    ...([relayer, usd.accountOf(wallet.publicKey), wallet.publicKey, usd.mint] as const),
  );
  const cheap = await built([wallet], pay(wallet, relayer, PRICE), making);
  t.match(await post({ transaction: cheap }), { status: 400, body: { error: UNPAID } }, 'it may be closed by then');
  const full = await built([wallet], pay(wallet, relayer, PRICE + BigInt(rent) / 5n + 1n), making);
  t.equal((await post({ transaction: full })).status, 200);
  const closing = createCloseAccountInstruction(usd.accountOf(relayer), wallet.publicKey, relayer);
  const drained = await built([wallet], pay(wallet, relayer, 10n * PRICE), closing);
  t.match(await post({ transaction: drained }), { status: 400, body: { error: /names the relayer account/ } });
});

t.test('instructions need a transaction that pays for them', async (t) => {
  await policies();
  const { status, body } = await post({ instructions: [{ program_id: USD, accounts: [], data: '' }] });
  t.equal(status, 400);
  t.match(body.error, /^User-paid fees require a pre-built transaction\. Use prepareTransaction RPC method first/);
});

t.test('a relayer that pays for all asks nobody for anything', async (t: Test) => {
  await policies({ fee_payment_strategy: 'relayer' });
  const { wallet, to, asked } = await payment();
  const estimate = await rpc('feeEstimate', asked);
  t.match(estimate.result, { estimated_fee: '0.002' }, 'the relayer signs beside its user');
  const { result } = await rpc('prepareTransaction', asked);
  t.match(result, { fee_in_lamports: String(FEE), fee_in_spl: String(PRICE) });
  const { result: sent } = await rpc('signAndSendTransaction', { transaction: signedBy(wallet, result.transaction) });
  await tickUntil(sent.id, 'confirmed');
  t.equal(await usd.held(to), 1_001n);
  t.equal(await usd.held(wallet.publicKey), 9_999_000n, 'nothing but the payment');

  const rich = await funded();
  await usd.give(rich.publicKey, 1_000n);
  const move = { amount: 7, token: USD, source: rich.publicKey.toBase58(), destination: anyone().toBase58() };
  const { result: moved } = await rpc('transferTransaction', move);
  t.equal(moved.fee_in_lamports, String(FEE), 'who sends pays for accounts');
  const before = await connection.getBalance(relayer);
  const { result: done } = await rpc('signAndSendTransaction', { transaction: signedBy(rich, moved.transaction) });
  await tickUntil(done.id, 'confirmed');
  t.equal(before - (await connection.getBalance(relayer)), FEE);
});

t.test('what waits for money is refused at once, and nothing is left behind', async (t) => {
  await policies({ fee_payment_strategy: 'relayer', min_balance: 20_000_000_000 });
  const { wallet, to } = await payment();
  const transaction = await built([wallet], pay(wallet, to, 1n));
  const count = async () => (await ask('GET', '/transactions')).body.pagination.total_items;
  const before = await count();
  t.match(
    await refusal('signAndSendTransaction', { transaction }),
    /^-32002 INSUFFICIENT_FUNDS The sender does not have enough funds for the transfer: Insufficient relayer balance/,
  );
  t.equal(await count(), before);
});
