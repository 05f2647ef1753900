/**
 * The promise: each node of the tests' Stellar network has a Horizon, with the answers of Stellar's Horizon. Stellar's
 * public client drives it.
 */
import { setImmediate } from 'node:timers/promises';
import {
  Asset,
  type FeeBumpTransaction,
  Horizon,
  Keypair,
  Memo,
  Operation,
  type Transaction,
  xdr,
} from '@stellar/stellar-sdk';
import t from 'tap';
import { openMarket } from '../support/stellar-market.ts';
import { LUMEN, startStellarScene } from '../support/stellar-scene.ts';

const scene = await startStellarScene();
t.teardown(() => scene.net.stop());
const { net, funded, signed, bumped, send, land, balanceOf } = scene;
const horizonAt = (url: string) => new Horizon.Server(url, { allowHttp: true });
const horizon = horizonAt(net.horizonUrl);

const pay = (to: Keypair, amount = '1') =>
  Operation.payment({ destination: to.publicKey(), amount, asset: Asset.native() });
const hashOf = (transaction: { hash(): Uint8Array }) => Buffer.from(transaction.hash()).toString('hex');
const ofName = (name: string) => `https://stellar.org/horizon-errors/${name}`;

/** Resolves when Horizon has the transaction. The result has the pending answer. */
async function offered(transaction: Transaction | FeeBumpTransaction) {
  let isOver = false;
  const answer = horizon.submitTransaction(transaction).finally(() => {
    isOver = true;
  });
  answer.catch(() => undefined);
  const known = (await net.offers()).length;
  while (!isOver && (await net.offers()).length === known) await setImmediate();
  return { answer };
}

/** The problem in Horizon's answer. */
async function problemOf(answer: Promise<unknown>): Promise<Record<string, unknown>> {
  try {
    await answer;
  } catch (error) {
    const { response } = error as { response?: { data?: Record<string, unknown> } & Record<string, unknown> };
    return response?.data ?? response ?? { error };
  }
  throw new Error('There is no problem.');
}

async function get(path: string): Promise<{ status: number; type: string | null; body: Record<string, unknown> }> {
  const response = await fetch(`${net.horizonUrl}${path}`);
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, type: response.headers.get('content-type'), body };
}

// Horizon: GET /accounts/{id}.
t.test('an account is told with its balances, signers and data', async (t) => {
  const { issuer, asset, holders } = await openMarket(scene, 'USD', '7.5');
  const [holder] = holders as [Keypair];
  const cosigner = Keypair.random();
  await land(
    await signed(holder, [
      Operation.setOptions({
        signer: { ed25519PublicKey: cosigner.publicKey(), weight: 2 },
        medThreshold: 1,
        homeDomain: 'a.example',
      }),
      Operation.manageData({ name: 'config.memo', value: 'yes' }),
    ]),
  );
  const account = await horizon.loadAccount(holder.publicKey());
  t.match(account, {
    id: holder.publicKey(),
    subentry_count: 3,
    home_domain: 'a.example',
    thresholds: { low_threshold: 0, med_threshold: 1, high_threshold: 0 },
    flags: { auth_required: false, auth_revocable: false, auth_immutable: false, auth_clawback_enabled: false },
    data_attr: { 'config.memo': Buffer.from('yes').toString('base64') },
    last_modified_ledger: (await scene.server.getLatestLedger()).sequence,
  });
  t.match(account.balances, [
    {
      balance: '7.5000000',
      limit: '922337203685.4775807',
      asset_type: 'credit_alphanum4',
      asset_code: 'USD',
      asset_issuer: issuer.publicKey(),
      is_authorized: true,
      is_authorized_to_maintain_liabilities: true,
      buying_liabilities: '0.0000000',
    },
    { balance: `${Number(await balanceOf(holder.publicKey())) / 1e7}`, asset_type: 'native' },
  ]);
  const weights = new Map(account.signers.map(({ key, weight, type }) => [key, [weight, type]]));
  t.same(weights.get(holder.publicKey()), [1, 'ed25519_public_key']);
  t.same(weights.get(cosigner.publicKey()), [2, 'ed25519_public_key']);
  t.equal(weights.size, 2);
  t.equal(account.sequenceNumber(), String(await scene.sequenceOf(holder.publicKey())));
  t.same((await get(`/accounts/${holder.publicKey()}/data/config.memo`)).body, { value: 'eWVz' });

  const sent = await signed(holder, [Operation.payment({ destination: issuer.publicKey(), amount: '1', asset })]);
  await land(sent);
  t.match(await horizon.transactions().forAccount(issuer.publicKey()).order('desc').limit(1).call(), {
    records: [{ hash: hashOf(sent) }],
  });

  const none = Keypair.random().publicKey();
  t.match(await get(`/accounts/${none}`), {
    status: 404,
    type: /^application\/problem\+json/,
    body: { type: ofName('not_found'), title: 'Resource Missing', status: 404 },
  });
  await t.rejects(horizon.loadAccount(none), /Not Found/);
  t.match(await get('/accounts/GNONSENSE'), {
    status: 400,
    body: { type: ofName('bad_request'), extras: { invalid_field: 'account_id' } },
  });
});

// Horizon: POST /transactions waits for the ledger.
t.test('a transaction that is submitted is answered when it is on the chain', async (t) => {
  const [payer, to] = [await funded(), await funded()];
  const transaction = await signed(payer, [pay(to, '2')], {
    with: (builder) => builder.setTimeout(60).addMemo(Memo.text('for tea')),
  });
  const { answer } = await offered(transaction);
  t.equal(await balanceOf(to.publicKey()), 100n * LUMEN);
  await net.tick();
  const told = await answer;
  t.match(told, { hash: hashOf(transaction), successful: true, envelope_xdr: transaction.toXdr() });
  t.equal(await balanceOf(to.publicKey()), 102n * LUMEN);
  const found = await horizon.transactions().transaction(told.hash).call();
  t.match(found, {
    ledger_attr: told.ledger,
    source_account: payer.publicKey(),
    source_account_sequence: transaction.sequence,
    fee_account: payer.publicKey(),
    fee_charged: '100',
    max_fee: '100',
    operation_count: 1,
    memo_type: 'text',
    memo: 'for tea',
    signatures: [Buffer.from(transaction.signatures[0]?.signature.toBytes() ?? []).toString('base64')],
    preconditions: { timebounds: { min_time: '0', max_time: transaction.timeBounds?.maxTime } },
  });
  t.equal(xdr.TransactionResult.fromXdr(found.result_xdr, 'base64').result.type, 'txSuccess');
  t.equal(xdr.TransactionMeta.fromXdr(found.result_meta_xdr, 'base64').type, 'v4');
  t.equal(Buffer.from(found.fee_meta_xdr, 'base64').readUInt32BE(), 2, 'what the fee changed');
  t.match(await horizon.submitTransaction(transaction), { hash: told.hash }, 'again it is answered at once');
  t.match(await get(`/transactions/${'0'.repeat(64)}`), { status: 404 });
  t.match(await get('/transactions/beef'), { status: 400, body: { extras: { invalid_field: 'tx_id' } } });
});

// CAP-15: the hash of a fee bump, and the hash of its inner transaction.
t.test('a fee bump is known by its own hash and by that of what it carries', async (t) => {
  const [payer, source, to] = [await funded(), await funded(), await funded()];
  const inner = await signed(source, [pay(to)]);
  const bump = bumped(inner, payer, 1000n);
  await land(bump);
  const common = {
    fee_account: payer.publicKey(),
    source_account: source.publicKey(),
    fee_charged: '200',
    max_fee: '1000',
    fee_bump_transaction: { hash: hashOf(bump) },
    inner_transaction: { hash: hashOf(inner), max_fee: '100' },
  };
  t.match(await horizon.transactions().transaction(hashOf(bump)).call(), { ...common, hash: hashOf(bump) });
  t.match(await horizon.transactions().transaction(hashOf(inner)).call(), { ...common, hash: hashOf(inner) });

  const poor = await signed(source, [pay(to, '1000')]);
  const { answer } = await offered(bumped(poor, payer, 1000n));
  await net.tick();
  t.match(await problemOf(answer), {
    extras: {
      result_codes: {
        transaction: 'tx_fee_bump_inner_failed',
        inner_transaction: 'tx_failed',
        operations: ['op_underfunded'],
      },
    },
  });
  t.match((await problemOf(horizon.submitTransaction(poor)))['extras'], {
    result_codes: { transaction: 'tx_failed', operations: ['op_underfunded'] },
  });
});

// Horizon: transaction_failed with extras.result_codes. A timeout (504) decides nothing.
t.test('what fails is told in Horizon’s words, and what may still land is not called a failure', async (t) => {
  const [payer, to] = [await funded(), await funded()];
  const codes = async (answer: Promise<unknown>) => {
    const problem = await problemOf(answer);
    t.match(problem, { type: ofName('transaction_failed'), status: 400, title: 'Transaction Failed' });
    return (problem['extras'] as { result_codes: unknown }).result_codes;
  };
  const stranger = Keypair.random();
  const [early, unsigned, failing] = [
    await signed(payer, [pay(to)], { sequence: 1n }),
    await signed(payer, [pay(to)], { signers: [stranger] }),
    await signed(payer, [pay(to), pay(stranger), Operation.manageData({ name: 'none', value: null })]),
  ];
  t.same(await codes(horizon.submitTransaction(early)), { transaction: 'tx_bad_seq' });
  t.same(await codes(horizon.submitTransaction(unsigned)), { transaction: 'tx_bad_auth' });
  const strange = await signed(stranger, [pay(to)], { sequence: 1n });
  t.same(await codes(horizon.submitTransaction(strange)), { transaction: 'tx_no_source_account' });
  const { answer } = await offered(failing);
  await net.tick();
  t.same(await codes(answer), {
    transaction: 'tx_failed',
    operations: ['op_success', 'op_no_destination', 'op_data_name_not_found'],
  });
  const { records } = await horizon.transactions().forAccount(payer.publicKey()).call();
  t.same(records, []);
  const all = await horizon.transactions().forAccount(payer.publicKey()).includeFailed(true).call();
  t.match(all.records, [{ hash: hashOf(failing), successful: false }]);

  const waiting = await signed(payer, [pay(to)]);
  await net.dropNext(1);
  const first = await offered(waiting);
  const rival = await signed(payer, [pay(to, '2')]);
  const second = await offered(rival);
  await net.tick(6);
  for (const [lost, transaction] of [
    [first, waiting],
    [second, rival],
  ] as const) {
    t.match(await problemOf(lost.answer), {
      type: ofName('transaction_submission_timeout'),
      status: 504,
      extras: { hash: hashOf(transaction) },
    });
  }
  const body = new URLSearchParams({ tx: 'AAAA' });
  const malformed = await fetch(`${net.horizonUrl}/transactions`, { method: 'POST', body });
  t.equal(malformed.status, 400);
  t.match(await malformed.json(), { type: ofName('transaction_malformed'), extras: { envelope_xdr: 'AAAA' } });
  const json = await fetch(`${net.horizonUrl}/transactions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  t.equal(json.status, 415);
});

// Horizon: POST /transactions_async.
t.test('a transaction that is not waited for is told by the node’s own status', async (t) => {
  const [payer, to] = [await funded(), await funded()];
  const transaction = await signed(payer, [pay(to)]);
  const hash = hashOf(transaction);
  t.same(await horizon.submitAsyncTransaction(transaction), { tx_status: 'PENDING', hash });
  t.match(await problemOf(horizon.submitAsyncTransaction(transaction)), { tx_status: 'DUPLICATE', hash });
  const rival = await signed(payer, [pay(to, '2')]);
  t.match(await problemOf(horizon.submitAsyncTransaction(rival)), { tx_status: 'TRY_AGAIN_LATER' });
  const early = await signed(payer, [pay(to)], { sequence: 1n });
  const refused = await problemOf(horizon.submitAsyncTransaction(early));
  t.match(refused, { tx_status: 'ERROR', hash: hashOf(early) });
  const result = xdr.TransactionResult.fromXdr(String(refused['error_result_xdr']), 'base64');
  t.equal(result.result.type, 'txBadSeq');
});

// Horizon: GET /ledgers with cursor, limit and order.
t.test('ledgers come page by page, as far as the history goes', async (t) => {
  await net.tick();
  const [payer, to] = [await funded(), await funded()];
  await land(await signed(payer, [pay(to)]));
  const sequence = await net.tick(4);
  const newest = await horizon.ledgers().order('desc').limit(2).call();
  t.same(
    newest.records.map((ledger) => ledger.sequence),
    [sequence, sequence - 1],
  );
  const next = await newest.next();
  t.same(
    next.records.map((ledger) => ledger.sequence),
    [sequence - 2, sequence - 3],
  );
  t.equal(newest.records[0]?.prev_hash, newest.records[1]?.hash);
  t.match(
    await horizon
      .ledgers()
      .ledger(sequence - 4)
      .call(),
    {
      successful_transaction_count: 1,
      failed_transaction_count: 0,
      operation_count: 1,
      base_fee_in_stroops: 100,
      base_reserve_in_stroops: 5_000_000,
      max_tx_set_size: 1000,
      protocol_version: 28,
    },
  );
  t.equal(
    (
      await horizon
        .transactions()
        .forLedger(sequence - 4)
        .call()
    ).records.length,
    1,
  );
  t.match(await get(`/ledgers/${sequence + 1}`), { status: 404 });
  const other = await net.endpoint();
  await other.pruneHistory();
  const pruned = await fetch(`${other.horizonUrl}/ledgers/${sequence - 1}`);
  t.equal(pruned.status, 410);
  t.match(await pruned.json(), { type: ofName('before_history') });
  t.match(await get('/ledgers?limit=201'), { status: 400, body: { extras: { invalid_field: 'limit' } } });
  t.match(await get('/ledgers?order=up'), { status: 400, body: { extras: { invalid_field: 'order' } } });
});

// Horizon: GET / and GET /fee_stats.
t.test('the root tells of the network, and the fees of its last ledgers', async (t) => {
  const [payer, to] = [await funded(), await funded()];
  await net.tick(5);
  t.match(await horizon.feeStats(), { fee_charged: { max: '100', mode: '100' }, max_fee: { p99: '100' } });
  await land(await signed(payer, [pay(to), pay(to)], { fee: '700' }));
  const stats = await horizon.feeStats();
  const sequence = await net.tick();
  t.match(stats, {
    last_ledger: String(sequence - 1),
    last_ledger_base_fee: '100',
    ledger_capacity_usage: '0',
    fee_charged: { min: '100', p50: '100' },
    max_fee: { max: '700', p10: '700' },
  });
  t.equal(await horizon.fetchBaseFee(), 100);
  t.match(await horizon.root(), {
    network_passphrase: net.passphrase,
    history_latest_ledger: sequence,
    core_latest_ledger: sequence,
    current_protocol_version: 28,
  });
});

t.test('Horizon fails, lags and lies as its node does', async (t) => {
  const [payer, to] = [await funded(), await funded()];
  const late = await net.endpoint({ behind: 2 });
  const before = await balanceOf(to.publicKey());
  await land(await signed(payer, [pay(to)]));
  const account = await horizonAt(late.horizonUrl).loadAccount(to.publicKey());
  t.match(account.balances[0]?.balance, String(before / LUMEN));
  await late.setPassphrase('Another Network');
  t.match(await horizonAt(late.horizonUrl).root(), { network_passphrase: 'Another Network' });

  const limited = { kind: 'http', status: 429, body: '{}', headers: { 'content-type': 'application/json' } } as const;
  await net.fault({ methods: ['horizon.account'], times: 1, act: limited });
  await t.rejects(horizon.loadAccount(to.publicKey()), /Too Many Requests/);
  await net.fault({
    methods: ['horizon.account'],
    times: 1,
    act: { kind: 'error', code: 503, message: 'stale_history' },
  });
  t.match(await get(`/accounts/${to.publicKey()}`), { status: 503, body: { type: ofName('stale_history') } });
  await net.fault({ methods: ['horizon.submitAsync'], times: 1, act: { kind: 'cut' } });
  const transaction = await signed(payer, [pay(to)]);
  await t.rejects(horizon.submitAsyncTransaction(transaction));
  t.equal(await send(transaction), 'DUPLICATE', 'it was taken in all the same');
  await net.fault({
    methods: ['horizon.account'],
    times: 1,
    act: { kind: 'result', result: { sequence: 'nonsense' } },
  });
  t.same((await get(`/accounts/${to.publicKey()}`)).body, { sequence: 'nonsense' });
  t.ok((await net.calls('horizon.account')) >= 3);

  t.match(await get('/operations'), { status: 501 }, 'what it has not is no empty answer');
  t.match(await get('/nothing'), { status: 404 });
  const stream = await fetch(`${net.horizonUrl}/ledgers`, { headers: { accept: 'text/event-stream' } });
  t.equal(stream.status, 406);
});
