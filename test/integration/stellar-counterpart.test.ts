/**
 * The promise: the tests' Stellar network decides as stellar-core does, and answers as stellar-rpc does. Stellar's
 * public client drives it.
 */
import { Asset, Keypair, Operation, rpc, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { codeOf, LUMEN, startStellarScene } from '../support/stellar-scene.ts';

const scene = await startStellarScene();
t.teardown(() => scene.net.stop());
const { net, server, funded, signed, bumped, send, land, balanceOf, sequenceOf } = scene;

const pay = (destination: string, amount = '1', asset = Asset.native()) =>
  Operation.payment({ destination, amount, asset });
const hashOf = (transaction: { hash(): Uint8Array }) => Buffer.from(transaction.hash()).toString('hex');

// stellar-rpc: the statuses of sendTransaction (PENDING, DUPLICATE) and getTransaction.
t.test('a payment waits for its ledger and is final in it', async (t) => {
  const [payer, to] = [await funded(), await funded()];
  const transaction = await signed(payer, [pay(to.publicKey())]);
  const sent = await server.sendTransaction(transaction);
  t.match(sent, { status: 'PENDING', hash: hashOf(transaction), latestLedger: Number });
  t.match(await server.getTransaction(sent.hash), { status: 'NOT_FOUND', latestLedger: sent.latestLedger });
  t.equal(await send(transaction), 'DUPLICATE');

  const ledger = await net.tick();
  const told = await server.getTransaction(sent.hash);
  t.match(told, { status: 'SUCCESS', ledger, applicationOrder: 1, feeBump: false });
  if (told.status === rpc.Api.GetTransactionStatus.SUCCESS) {
    t.equal(told.resultXdr.feeCharged, 100n);
    t.equal(codeOf(told.resultXdr), 'txSuccess');
    t.equal(told.envelopeXdr.toXdr('base64'), transaction.toEnvelope().toXdr('base64'));
  }
  t.equal(await balanceOf(to.publicKey()), 101n * LUMEN);
  t.equal(await balanceOf(payer.publicKey()), 99n * LUMEN - 100n);
  t.equal(await sequenceOf(payer.publicKey()), BigInt(transaction.sequence));
  t.match((await net.landed()).at(-1), { hash: sent.hash, ledger, isSuccessful: true, feeCharged: 100n });
});

// stellar-core: TransactionFrame::commonValid, by TransactionResultCode of Stellar-transaction.x.
t.test('what a node does not take in, and why', async (t) => {
  const [payer, poor, to] = [await funded(), await funded(LUMEN + 50n), await funded()];
  const next = (await sequenceOf(payer.publicKey())) + 1n;
  const closeTime = Number((await server.getLatestLedger()).closeTime);
  const one = [pay(to.publicKey())];
  const cases: [code: string, transaction: Awaited<ReturnType<typeof signed>>][] = [
    ['txMissingOperation', await signed(payer, [])],
    ['txInsufficientFee', await signed(payer, one, { fee: '99' })],
    ['txBadSeq', await signed(payer, one, { sequence: next + 1n })],
    ['txBadSeq', await signed(payer, one, { sequence: next - 1n })],
    ['txBadAuth', await signed(payer, one, { signers: [] })],
    ['txBadAuth', await signed(payer, one, { signers: [to] })],
    ['txBadAuth', await signed(payer, one, { passphrase: 'Test SDF Network ; September 2015' })],
    ['txBadAuthExtra', await signed(payer, one, { signers: [payer, to] })],
    ['txNoAccount', await signed(Keypair.random(), one, { sequence: 1n })],
    ['txTooEarly', await signed(payer, one, { with: (builder) => builder.setTimebounds(closeTime + 60, 0) })],
    ['txTooLate', await signed(payer, one, { with: (builder) => builder.setTimebounds(0, closeTime - 1) })],
    ['txInsufficientBalance', await signed(poor, one)],
    ['txFailed paymentMalformed', await signed(payer, [nothingTo(to)])],
    [
      'txFailed paymentSuccess opBadAuth',
      await signed(payer, [...one, Operation.payment({ ...paymentOf(to), source: to.publicKey() })]),
    ],
    ['txFailed opNotSupported', await signed(payer, [Operation.inflation()])],
  ];
  for (const [code, transaction] of cases) t.equal(await send(transaction), code);
  await net.tick();
  t.equal(await sequenceOf(payer.publicKey()), next - 1n, 'nothing of it was taken');
  t.match(
    await server.sendTransaction(await signed(payer, one, { fee: '99' })).then(({ errorResult }) => errorResult),
    { feeCharged: 100n },
    'the fee that would do',
  );
});

/** A payment of zero, which the client's own builder rejects. */
const nothingTo = (to: Keypair) => {
  const op = { destination: to.xdrMuxedAccount(), asset: xdr.Asset.assetTypeNative(), amount: 0n };
  return new xdr.Operation({ sourceAccount: null, body: xdr.OperationBody.payment(new xdr.PaymentOp(op)) });
};

const paymentOf = (to: Keypair) => ({ destination: to.publicKey(), amount: '1', asset: Asset.native() });

// stellar-core: TransactionQueue::canAdd, with Herder’s upper bound of the next close time (txTOO_LATE).
t.test('a time bound must lie two ledgers ahead, or the node lets nobody wait for it', async (t) => {
  const payer = await funded();
  const now = Math.floor(Date.now() / 1000);
  const until = async (maxTime: number) =>
    signed(payer, [pay(payer.publicKey())], { with: (builder) => builder.setTimebounds(0, maxTime) });
  t.equal(await send(await until(now + 8)), 'txTooLate');
  const last = await until(now + 60);
  t.equal(await send(last), 'PENDING');
  await net.travel(61);
  await net.tick();
  t.equal((await server.getTransaction(hashOf(last))).status, 'NOT_FOUND', 'its time was over when a ledger closed');
  t.equal(await send(last), 'TRY_AGAIN_LATER', 'what was dropped is banned first');
  await net.tick(10);
  t.equal(await send(last), 'txTooLate');
});

// stellar-core: TransactionQueue holds one transaction of a source at a time (TRY_AGAIN_LATER).
t.test('one transaction of an account waits at a time', async (t) => {
  const [payer, to] = [await funded(), await funded()];
  const first = await signed(payer, [pay(to.publicKey())]);
  const second = await signed(payer, [pay(to.publicKey())], { sequence: BigInt(first.sequence) + 1n });
  const rival = await signed(payer, [pay(to.publicKey(), '2')], { fee: '100000' });
  t.equal(await send(first), 'PENDING');
  t.equal(await send(second), 'TRY_AGAIN_LATER');
  t.equal(await send(rival), 'TRY_AGAIN_LATER', 'no fee makes a bare transaction replace another');
  await net.tick();
  t.equal(await send(second), 'PENDING');
  t.equal(await send(rival), 'txBadSeq');
  t.equal(await send(first), 'TRY_AGAIN_LATER', 'what was applied is banned for a while');
  await net.tick(10);
  t.equal(await send(first), 'txBadSeq', 'and then has a sequence that is used');
});

// CAP-15; stellar-core: TransactionQueue::FEE_MULTIPLIER.
t.test('a fee bump pays for another account, and replaces for ten times the bid', async (t) => {
  const [owner, payer, to] = [await funded(), await funded(), await funded()];
  const inner = await signed(owner, [pay(to.publicKey())]);
  t.equal(await send(bumped(inner, payer, 199n)), 'txInsufficientFee', 'the bump counts as an operation');
  t.equal(await send(bumped(inner, payer, 200n)), 'PENDING');
  t.equal(await send(inner), 'DUPLICATE', 'what a bump carries is known');
  const low = await server.sendTransaction(bumped(inner, payer, 1999n));
  t.match(low.errorResult, { result: { type: 'txInsufficientFee' }, feeCharged: 2000n });
  const high = bumped(inner, payer, 2000n);
  t.equal(await send(high), 'PENDING');
  const ledger = await net.tick();
  const told = await server.getTransaction(hashOf(high));
  t.match(told, { status: 'SUCCESS', ledger, feeBump: true });
  t.match(await server.getTransaction(hashOf(inner)), { status: 'SUCCESS', ledger }, 'by the hash of what is within');
  if (told.status === rpc.Api.GetTransactionStatus.SUCCESS) {
    t.equal(told.resultXdr.feeCharged, 200n, 'no more than the base fee');
    t.equal(told.resultXdr.result.type, 'txFeeBumpInnerSuccess');
  }
  t.equal(await balanceOf(payer.publicKey()), 100n * LUMEN - 200n);
  t.equal(await balanceOf(owner.publicKey()), 99n * LUMEN, 'the owner pays no fee');
  t.equal(await sequenceOf(owner.publicKey()), BigInt(inner.sequence));
});

// CAP-15: txFEE_BUMP_INNER_FAILED, and the codes of the fee bump itself.
t.test('a fee bump fails for itself or for what it carries', async (t) => {
  const [owner, payer, to] = [await funded(), await funded(), await funded()];
  const rich = await signed(owner, [pay(to.publicKey())], { fee: '1000' });
  const short = await server.sendTransaction(bumped(rich, payer, 1999n));
  t.match(short.errorResult, { result: { type: 'txInsufficientFee' }, feeCharged: 2000n }, 'no lower bid than within');
  const ahead = await signed(owner, [pay(to.publicKey())], { sequence: BigInt(rich.sequence) + 1n });
  t.equal(await send(bumped(ahead, payer, 200n)), 'txFeeBumpInnerFailed txBadSeq');
  const alien = await signed(owner, [pay(to.publicKey())], { signers: [to] });
  t.equal(await send(bumped(alien, payer, 200n)), 'txFeeBumpInnerFailed txBadAuth');
  t.equal(await send(bumped(rich, Keypair.random(), 2000n)), 'txNoAccount');
  t.equal(await send(bumped(rich, await funded(LUMEN), 2000n)), 'txInsufficientBalance');
  const free = await signed(owner, [pay(to.publicKey(), '500')], { fee: '0' });
  const result = await land(bumped(free, payer, 200n));
  t.equal(codeOf(result), 'txFeeBumpInnerFailed txFailed paymentUnderfunded');
  t.equal(await balanceOf(payer.publicKey()), 100n * LUMEN - 200n, 'what fails on the chain has cost its fee');
  t.equal(await sequenceOf(owner.publicKey()), BigInt(free.sequence), 'and its sequence');
});

t.test('preconditions of CAP-21 hold a transaction back', async (t) => {
  const [payer, other] = [await funded(), await funded()];
  const idle = [pay(payer.publicKey())];
  await land(await signed(payer, idle));
  const ledger = await net.tick();
  const sequence = await sequenceOf(payer.publicKey());
  const bad: [code: string, how: Parameters<typeof signed>[2]][] = [
    ['txTooEarly', { with: (builder) => builder.setTimeout(300).setLedgerbounds(ledger + 2, 0) }],
    ['txTooLate', { with: (builder) => builder.setTimeout(300).setLedgerbounds(0, ledger + 1) }],
    ['txBadMinSeqAgeOrGap', { with: (builder) => builder.setTimeout(300).setMinAccountSequenceLedgerGap(3) }],
    ['txBadMinSeqAgeOrGap', { with: (builder) => builder.setTimeout(300).setMinAccountSequenceAge(900n) }],
    ['txBadSeq', { sequence: sequence + 5n, with: (builder) => builder.setTimeout(300) }],
    [
      'txBadSeq',
      { sequence: sequence + 5n, with: (b) => b.setTimeout(300).setMinAccountSequence(String(sequence + 1n)) },
    ],
    ['txBadAuth', { with: (builder) => builder.setTimeout(300).setExtraSigners([other.publicKey()]) }],
  ];
  for (const [code, how] of bad) t.equal(await send(await signed(payer, idle, how)), code);
  const good = await signed(payer, idle, {
    sequence: sequence + 5n,
    signers: [payer, other],
    with: (builder) =>
      builder
        .setTimeout(300)
        .setLedgerbounds(ledger + 1, ledger + 2)
        .setMinAccountSequence(String(sequence))
        .setMinAccountSequenceLedgerGap(2)
        .setExtraSigners([other.publicKey()]),
  });
  t.equal(codeOf(await land(good)), 'txSuccess');
  t.equal(await sequenceOf(payer.publicKey()), sequence + 5n, 'the gap is jumped');
});

// CAP-5: surge pricing, with one base fee for all transactions of the ledger.
t.test('when a ledger is full, the best bids are in and pay what the lowest of them bids', async (t) => {
  const small = await startStellarScene({ maxOperations: 3 });
  t.teardown(() => small.net.stop());
  const bids = [100, 250, 400, 300].map(String);
  const sent = [];
  for (const fee of bids) {
    const payer = await small.funded();
    const transaction = await small.signed(payer, [pay(payer.publicKey())], { fee });
    t.equal(await small.send(transaction), 'PENDING');
    sent.push(hashOf(transaction));
  }
  await small.net.tick();
  const told = await Promise.all(sent.map((hash) => small.server.getTransaction(hash)));
  t.same(
    told.map((one) => ('resultXdr' in one ? one.resultXdr.feeCharged : one.status)),
    ['NOT_FOUND', 250n, 250n, 250n],
  );
  const stats = await small.server.getFeeStats();
  t.match(stats.inclusionFee, { max: '250', min: '250', mode: '250', p10: '250', transactionCount: '3' });
  await small.net.tick();
  t.match(await small.server.getTransaction(sent[0] ?? ''), { status: 'SUCCESS' }, 'it has its turn later');
});

// CAP-5; stellar-core: TxQueueLimiter::canAddTx (txINSUFFICIENT_FEE with the necessary fee).
t.test('a queue that is full takes only who bids more than the lowest in it', async (t) => {
  const payer = await funded();
  await net.crowd(2000, 500n);
  const low = await server.sendTransaction(await signed(payer, [pay(payer.publicKey())], { fee: '500' }));
  t.match(low.errorResult, { result: { type: 'txInsufficientFee' }, feeCharged: 501n });
  const high = await signed(payer, [pay(payer.publicKey())], { fee: '501' });
  t.equal(await send(high), 'PENDING');
  await net.tick();
  const told = await server.getTransaction(hashOf(high));
  t.equal('resultXdr' in told && told.resultXdr.feeCharged, 500n);
  await net.crowd(0);
});

// stellar-core: TRANSACTION_QUEUE_TIMEOUT_LEDGERS (4) and TRANSACTION_QUEUE_BAN_LEDGERS (10).
t.test('a transaction that nobody takes for four ledgers is dropped and banned', async (t) => {
  const [payer, later] = [await funded(), await funded()];
  const transaction = await signed(payer, [pay(later.publicKey())]);
  t.equal(await send(transaction), 'PENDING');
  await net.crowd(1000, 200n);
  await net.tick(3);
  t.equal(await send(transaction), 'DUPLICATE');
  await net.tick();
  t.equal(await send(transaction), 'TRY_AGAIN_LATER');
  await net.crowd(0);
  await net.tick(10);
  t.equal(codeOf(await land(transaction)), 'txSuccess', 'it was never dead');
});

// stellar-rpc: JSON-RPC 2.0, -32602 for invalid parameters.
t.test('what stellar-rpc refuses to answer', async (t) => {
  const cases: [code: number, message: string, method: string, params?: unknown][] = [
    [-32601, 'no such method "getWeather"', 'getWeather'],
    [-32602, 'invalid_xdr', 'sendTransaction', { transaction: 'AAAA' }],
    [-32602, 'invalid parameters', 'sendTransaction', ['AAAA']],
    [-32602, 'unexpected hash length (2)', 'getTransaction', { hash: 'ab' }],
    [-32602, 'incorrect hash', 'getTransaction', { hash: 'x'.repeat(64) }],
    [-32602, 'cannot unmarshal key value AAAA at index 0', 'getLedgerEntries', { keys: ['AAAA'] }],
    [-32602, 'key count (201) exceeds maximum supported (200)', 'getLedgerEntries', { keys: Array(201).fill('') }],
  ];
  for (const [code, message, method, params] of cases) {
    const { error } = await post(net.url, { jsonrpc: '2.0', id: 4, method, params });
    t.match(error, { code, message });
  }
  t.match(await post(net.url, { jsonrpc: '2.0', id: 'x', method: 'getHealth' }), { id: 'x', result: {} });
  t.match(await post(net.url, [{ jsonrpc: '1.0', id: 1, method: 'getHealth' }]), [{ error: { code: -32600 } }]);
  const missing = xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId: Keypair.random().xdrAccountId() }));
  t.match(await server.getLedgerEntries(missing), { entries: [], latestLedger: Number });
});

const post = async (url: string, body: unknown) => {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as { error?: unknown };
};

// stellar-rpc: getHealth, getNetwork, getLatestLedger.
t.test('a node tells of itself and of its ledgers', async (t) => {
  const latest = await server.getLatestLedger();
  t.match(await server.getHealth(), { status: 'healthy', latestLedger: latest.sequence, oldestLedger: 58_000_000 });
  t.match(await server.getNetwork(), { passphrase: net.passphrase, protocolVersion: 28 });
  t.match(await server.getVersionInfo(), { protocolVersion: 28, version: String });
  t.equal(latest.headerXdr.ledgerSeq, latest.sequence);
  t.equal(latest.headerXdr.scpValue.closeTime, BigInt(latest.closeTime));
  const payer = await funded();
  const transaction = await signed(payer, [pay(payer.publicKey())]);
  await land(transaction);
  const { metadataXdr, headerXdr } = await server.getLatestLedger();
  const [processed] = metadataXdr.type === 'v2' ? metadataXdr.v2.txProcessing : [];
  t.equal(processed?.result.transactionHash.toString(), hashOf(transaction));
  t.equal(headerXdr.previousLedgerHash.toString(), latest.id);
});

// stellar-rpc: getTransactions and getLedgers, with cursors.
t.test('history is told page by page', async (t) => {
  const payer = await funded();
  const { sequence: startLedger } = await server.getLatestLedger();
  const hashes = [];
  for (let count = 0; count < 3; count += 1) {
    const transaction = await signed(payer, [pay(payer.publicKey())]);
    await land(transaction);
    hashes.push(hashOf(transaction));
  }
  const first = await server.getTransactions({ startLedger: startLedger + 1, pagination: { limit: 2 } });
  t.same(
    first.transactions.map(({ txHash }) => txHash),
    hashes.slice(0, 2),
  );
  const second = await server.getTransactions({ pagination: { cursor: first.cursor, limit: 2 } });
  t.match(second.transactions, [{ txHash: hashes[2], status: 'SUCCESS', applicationOrder: 1 }]);
  const { ledgers } = await server.getLedgers({ startLedger, pagination: { limit: 2 } });
  t.same(
    ledgers.map(({ sequence }) => sequence),
    [startLedger, startLedger + 1],
  );
  await t.rejects(server.getTransactions({ startLedger: 5 }), { code: -32600, message: /must be between/ });
});
