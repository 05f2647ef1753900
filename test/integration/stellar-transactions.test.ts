/** Payments of a Stellar relayer, from the request to the ledger. The ledger is the judge. */
import { Account, Asset, Claimant, Keypair, MuxedAccount, Operation, Transaction, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { LUMEN } from '../support/stellar-scene.ts';
import { payment, stellarStage } from '../support/stellar-stage.ts';

const stage = await stellarStage(t);
const { net, relayer, submit, post, ask, until, tickUntil, funded, signed, balanceOf, sequenceOf } = stage;

/** An address with another last character, so that its checksum is wrong. */
const misspelt = (address: string) => `${address.slice(0, -1)}${address.endsWith('A') ? 'B' : 'A'}`;
const landings = async (hash: string) => (await net.landed()).filter((one) => one.hash === hash).length;

t.test('a payment is signed, sent and confirmed', async (t) => {
  const to = await funded();
  const before = await balanceOf(relayer.publicKey());
  const id = await submit({ operations: [payment(to, 3n * LUMEN)], memo: { type: 'text', value: 'for tea' } });
  const sent = await until(id, ({ status }) => status === 'submitted');
  t.match(sent, {
    id,
    hash: /^[0-9a-f]{64}$/,
    source_account: relayer.publicKey(),
    sequence_number: String((await sequenceOf(relayer.publicKey())) + 1n),
    confirmed_at: null,
  });
  const confirmed = await tickUntil(id, 'confirmed');
  t.match(confirmed, { hash: sent.hash, fee: 100, status_reason: null, confirmed_at: /^\d{4}-/ });
  t.equal(await landings(sent.hash), 1);
  t.equal(await balanceOf(to.publicKey()), 103n * LUMEN);
  t.equal(await balanceOf(relayer.publicKey()), before - 3n * LUMEN - 100n);
  t.match((await ask('GET', '/status')).body.data, {
    sequence_number: sent.sequence_number,
    last_confirmed_transaction_timestamp: /^\d{4}-/,
  });
});

t.test('equal payments are as many, one ledger after the other', async (t) => {
  const to = await funded();
  const ids = [];
  for (let count = 0; count < 3; count += 1) ids.push(await submit({ operations: [payment(to, LUMEN)] }));
  const ends = [];
  for (const id of ids) ends.push(await tickUntil(id, 'confirmed'));
  t.equal(new Set(ends.map(({ hash }) => hash)).size, 3);
  t.equal(await balanceOf(to.publicKey()), 103n * LUMEN);
});

t.test('what fails on the chain says why, and has cost its fee', async (t) => {
  const nobody = Keypair.random();
  const id = await submit({ operations: [payment(nobody, LUMEN)] });
  const failed = await tickUntil(id, 'failed');
  t.match(failed, {
    fee: 100,
    status_reason: 'Transaction failed on-chain. reason=TxFailed op=PaymentNoDestination',
  });
  t.equal(await landings(failed.hash), 1);
});

t.test('a reply that is lost makes no second payment', async (t) => {
  const to = await funded();
  await net.fault({ methods: ['sendTransaction'], times: 1, act: { kind: 'cut' } });
  const id = await submit({ operations: [payment(to, LUMEN)] });
  const { hash } = await tickUntil(id, 'confirmed');
  t.equal(await landings(hash), 1);
  t.equal(await balanceOf(to.publicKey()), 101n * LUMEN);
});

t.test('somebody else’s use of the key moves the sequence on, and no txBAD_SEQ reaches the client', async (t) => {
  const to = await funded();
  await net.landLater(1_000);
  const id = await submit({ operations: [payment(to, LUMEN)] });
  const { hash, sequence_number: sequence } = await until(id, ({ status }) => status === 'submitted');
  await net.landLater(0);
  const other = await net.endpoint();
  const rival = await signed(relayer, [
    Operation.payment({ destination: to.publicKey(), amount: '2', asset: Asset.native() }),
  ]);
  t.equal(rival.sequence, sequence);
  const taken = await other.rpc('sendTransaction', { transaction: rival.toXdr() });
  t.match(taken, { status: 'PENDING' });
  const confirmed = await tickUntil(id, 'confirmed');
  t.not(confirmed.hash, hash);
  t.equal(await landings(hash), 0);
  t.equal(await balanceOf(to.publicKey()), 103n * LUMEN, 'two of the rival, one of ours');
});

t.test('what is lost is signed anew when its time has passed on a ledger, and not before', async (t) => {
  const to = await funded();
  await net.dropNext(1);
  const id = await submit({ operations: [payment(to, LUMEN)] });
  const first = await until(id, ({ status }) => status === 'submitted');
  await net.tick(3);
  t.equal((await until(id, () => true)).hash, first.hash);
  await net.travel(200);
  await net.tick();
  const second = await until(id, ({ hash }) => hash !== null && hash !== first.hash);
  t.equal(second.sequence_number, first.sequence_number, 'its sequence was free');
  const confirmed = await tickUntil(id, 'confirmed');
  t.equal(await landings(first.hash), 0);
  t.equal(await landings(confirmed.hash), 1);
  t.equal(await balanceOf(to.publicKey()), 101n * LUMEN);
});

t.test('what is in no ledger by its end has expired, and never lands', async (t) => {
  const to = await funded();
  await net.dropNext(1_000);
  const { closeTime } = (await net.rpc('getLatestLedger')) as { closeTime: string };
  // Later than both the service's clock and the time of the ledgers.
  const end = Math.max(Number(closeTime), Math.floor(Date.now() / 1000)) + 60;
  const id = await submit({ operations: [payment(to, LUMEN)], valid_until: String(end) });
  const { hash } = await until(id, ({ status }) => status === 'submitted');
  await net.dropNext(0);
  await net.travel(90);
  await tickUntil(id, 'expired');
  await net.tick(5);
  t.equal(await landings(hash), 0);
  t.equal(await balanceOf(to.publicKey()), 100n * LUMEN);
});

t.test('what cannot be paid waits for money', async (t) => {
  const to = await funded();
  const id = await submit({ operations: [payment(to, 10_000n * LUMEN)] });
  const waiting = await until(id, ({ status_reason: reason }) => reason !== null);
  t.match(waiting, { status: 'pending', hash: null, status_reason: /Insufficient balance: Required: / });
  t.equal((await ask('DELETE', `/transactions/${id}`)).status, 200);
  t.match(await until(id, ({ status }) => status === 'canceled'), { hash: null });
});

t.test('bad requests are refused at once, with their place', async (t) => {
  const to = Keypair.random();
  const good = payment(to, 1n);
  const cases: [object, number, RegExp][] = [
    [{}, 400, /Must provide either operations or transaction_xdr/],
    [{ operations: [] }, 400, /Must provide either operations or transaction_xdr/],
    [{ operations: [{ ...good, amount: '0' }] }, 400, /`operations\.0\.amount`: expected more than 0/],
    [{ operations: [{ ...good, amount: String(2n ** 63n) }] }, 400, /`operations\.0\.amount`/],
    [{ operations: [{ ...good, destination: misspelt(to.publicKey()) }] }, 400, /`operations\.0\.destination`/],
    [
      { operations: [{ ...good, asset: { type: 'credit4', code: 'LONGER', issuer: to.publicKey() } }] },
      400,
      /asset\.code/,
    ],
    [
      { operations: [good], memo: { type: 'text', value: 'ü'.repeat(15) } },
      400,
      /`memo\.value`: expected at most 28 bytes/,
    ],
    [{ operations: [good], memo: { type: 'hash', value: 'beef' } }, 400, /`memo\.value`/],
    [{ operations: [good], valid_until: 'soon' }, 400, /Invalid validUntil/],
    [{ operations: [good], valid_until: '1' }, 400, /cannot be in the past/],
    [{ operations: [good], source_account: to.publicKey() }, 400, /is not the relayer's account/],
    [{ operations: Array.from({ length: 101 }, () => good) }, 400, /has 101 operations, but maximum allowed is 100/],
    [{ operations: [good], fees: 1 }, 400, /unknown field `fees`/],
  ];
  for (const [body, status, text] of cases) {
    t.match(await post(body), { status, body: { success: false, error: text } }, text.source);
  }
});

// SEP-29: an exchange credits nobody for a payment without a memo.
t.test('no payment goes without a memo to an account that asks for one', async (t) => {
  const exchange = await funded();
  const wants = Operation.manageData({ name: 'config.memo_required', value: '1' });
  await stage.land(await signed(exchange, [wants]));
  const refused = { status: 400, body: { error: /G\w+ takes payments only with a memo \(SEP-29/ } };
  t.match(await post({ operations: [payment(exchange, LUMEN)] }), refused);
  const pays = Operation.payment({ destination: exchange.publicKey(), asset: Asset.native(), amount: '1' });
  const merge = Operation.accountMerge({ destination: exchange.publicKey() });
  const user = await funded();
  t.match(await post({ transaction_xdr: (await signed(relayer, [pays], { signers: [] })).toXdr() }), refused);
  for (const operation of [pays, merge]) {
    const transaction_xdr = (await signed(user, [operation])).toXdr();
    t.match(await post({ transaction_xdr, fee_bump: true }), refused, operation.body.type);
  }
  const memo = { type: 'id', value: '7' };
  await tickUntil(await submit({ operations: [payment(exchange, LUMEN)], memo }), 'confirmed');
  const muxed = new MuxedAccount(new Account(exchange.publicKey(), '0'), '7').accountId();
  await tickUntil(await submit({ operations: [payment(muxed, LUMEN)] }), 'confirmed');
  // A node that cannot tell now does not stop the request. It is asked again before anything is signed.
  await net.fault({ methods: ['getLedgerEntries'], times: 1, act: { kind: 'error', code: -32_603, message: 'busy' } });
  const { body } = await post({ operations: [payment(exchange, LUMEN)] });
  if (body.data !== null) {
    t.match((await tickUntil(body.data.id, 'failed')).status_reason, /takes payments only with a memo/);
  }
  await net.clearFaults();
  t.equal(await balanceOf(exchange.publicKey()), 102n * LUMEN - 100n);
});

t.test('what acts in the name of another account, and only the relayer signs, is refused at once', async (t) => {
  const [other, to] = [await funded(), await funded()];
  const pays = Operation.payment({
    source: other.publicKey(),
    destination: to.publicKey(),
    asset: Asset.native(),
    amount: '1',
  });
  const transaction_xdr = (await signed(relayer, [pays], { signers: [] })).toXdr();
  t.match(await post({ transaction_xdr }), {
    status: 400,
    body: { error: /operations\.0: it acts in the name of G\w+, and only the relayer signs/ },
  });
  const signer = { ed25519PublicKey: relayer.publicKey(), weight: 1 };
  await stage.land(await signed(other, [Operation.setOptions({ signer })]));
  await tickUntil(await submit({ transaction_xdr }), 'confirmed');
  t.equal(await balanceOf(other.publicKey()), 99n * LUMEN - 100n, 'the relayer may sign for it');
});

t.test(
  'figures that are only advice stop nothing: no fee statistics, and no time beside the newest ledger',
  async (t) => {
    const to = await funded();
    const missing = { kind: 'error', code: -32_601, message: 'method not found' } as const;
    await net.fault({ methods: ['getFeeStats'], act: missing });
    const fields = { closeTime: null, headerXdr: null, metadataXdr: null };
    await net.fault({ methods: ['getLatestLedger'], act: { kind: 'merge', fields } });
    const ended = await tickUntil(await submit({ operations: [payment(to, LUMEN)] }), 'confirmed');
    t.equal(ended.fee, 100);
    const { body } = await stage.service.request('GET', '/api/v1/ready');
    t.match(
      JSON.stringify(body),
      /"method":"getFeeStats".*bid the base fee of 100 stroops at first/,
      'it is told once',
    );
    await net.clearFaults();
  },
);

t.test('a trouble of the only node at a simulation ends no payment', async (t) => {
  const to = await funded();
  const native = await net.assetContract('native');
  const call = {
    type: 'invoke_contract',
    contract_address: native,
    function_name: 'transfer',
    args: [{ address: relayer.publicKey() }, { address: to.publicKey() }, { i128: String(LUMEN) }],
  };
  for (const error of ['preflight queue full', 'missing meta for latest ledger (58000020)']) {
    await net.fault({ methods: ['simulateTransaction'], act: { kind: 'result', result: { error, latestLedger: 1 } } });
    const id = await submit({ operations: [call] });
    const waits = await until(id, ({ status_reason: reason }) => String(reason).includes(error));
    t.equal(waits.status, 'pending');
    await net.clearFaults();
    await tickUntil(id, 'confirmed');
  }
  t.equal(await balanceOf(to.publicKey()), 102n * LUMEN);
});

// CAP-83, protocol 28.
t.test('a ledger whose transactions validators left out is an empty one, and the payment is in the next', async (t) => {
  const to = await funded();
  const id = await submit({ operations: [payment(to, LUMEN)] });
  await until(id, ({ status }) => status === 'submitted');
  await net.dropSets(2);
  await net.tick(2);
  const { headerXdr, protocolVersion } = (await net.rpc('getLatestLedger')) as {
    headerXdr: string;
    protocolVersion: number;
  };
  t.equal(protocolVersion, 28);
  t.equal(xdr.LedgerHeader.fromXdr(headerXdr, 'base64').scpValue.ext.type, 'stellarValueEmptyTxSet');
  t.match(await ask('GET', `/transactions/${id}`), { body: { data: { status: 'submitted' } } });
  await tickUntil(id, 'confirmed');
  t.equal(await balanceOf(to.publicKey()), 101n * LUMEN);
});

t.test('claimable balances and sponsored accounts are sent like everything else', async (t) => {
  const [friend, made] = [await funded(), Keypair.random()];
  const claimants = [new Claimant(friend.publicKey())];
  const create = Operation.createClaimableBalance({ asset: Asset.native(), amount: '2', claimants });
  const draft = await signed(relayer, [create], { signers: [] });
  const sent = await tickUntil(await submit({ transaction_xdr: draft.toXdr() }), 'confirmed');
  const [landed] = (await net.landed()).filter(({ hash }) => hash === sent.hash);
  const own = new Transaction(landed?.envelope ?? '', net.passphrase);
  const claim = Operation.claimClaimableBalance({ balanceId: own.getClaimableBalanceId(0) });
  const claimed = await signed(friend, [claim]);
  await tickUntil(await submit({ transaction_xdr: claimed.toXdr(), fee_bump: true }), 'confirmed');
  t.equal(await balanceOf(friend.publicKey()), 102n * LUMEN);

  const before = await balanceOf(relayer.publicKey());
  const operations = [
    Operation.beginSponsoringFutureReserves({ sponsoredId: made.publicKey() }),
    Operation.createAccount({ destination: made.publicKey(), startingBalance: '0' }),
    Operation.endSponsoringFutureReserves({ source: made.publicKey() }),
  ];
  const sponsored = await signed(relayer, operations, { signers: [made] });
  const { body } = await ask('POST', '/sign-transaction', { unsigned_xdr: sponsored.toXdr() });
  await stage.land(new Transaction(body.data.signedXdr, net.passphrase));
  t.equal(await balanceOf(made.publicKey()), 0n);
  t.equal(before - (await balanceOf(relayer.publicKey())), 300n);
  // The relayer keeps the reserves of what it sponsors: they cannot be paid out.
  const rest = await balanceOf(relayer.publicKey());
  const tooMuch = await post({ operations: [payment(friend, rest - 2n * LUMEN)] });
  t.match(await until(tooMuch.body.data.id, ({ status_reason: reason }) => /Stays: /.test(reason)), {
    status: 'pending',
  });
  t.equal((await ask('DELETE', `/transactions/${tooMuch.body.data.id}`)).status, 200);
});
