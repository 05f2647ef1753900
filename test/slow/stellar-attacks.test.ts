/** Attempts to spend a Stellar relayer's money, or to keep it from serving others, on each path that signs. */
import {
  Account,
  Asset,
  Claimant,
  Keypair,
  MuxedAccount,
  Operation,
  type TransactionBuilder,
  type xdr,
} from '@stellar/stellar-sdk';
import t from 'tap';
import { address, i128, invoke } from '../support/stellar-contract-scene.ts';
import { LUMEN } from '../support/stellar-scene.ts';
import { payment, stellarStage } from '../support/stellar-stage.ts';

const stage = await stellarStage(t, { fee_payment_strategy: 'user' });
const { net, relayer, ask, post, submit, until, tickUntil, funded, signed, land, balanceOf, sequenceOf } = stage;

const pay = (to: Keypair, amount: string) =>
  Operation.payment({ destination: to.publicKey(), amount, asset: Asset.native() });
const bump = (inner: { toXdr(): string }, max_fee = 400) => ({
  transaction_xdr: inner.toXdr(),
  fee_bump: true,
  max_fee,
});
const policy = async (policies: object) => {
  const others = { fee_payment_strategy: 'user', allowed_tokens: null, min_balance: null, timeout_seconds: null };
  const { status, body } = await ask('PATCH', '', { policies: { ...others, ...policies } });
  if (status !== 200) throw new Error(JSON.stringify(body));
};
const now = async () => Number(((await net.rpc('getLatestLedger')) as { closeTime: string }).closeTime);
const YEARS = 10 * 365 * 86_400;

t.test('nobody holds a place among the fee bumps for longer than the policy gives', async (t) => {
  const [user, to] = [await funded(), await funded()];
  for (const policies of [{}, { timeout_seconds: 60 }, { fee_payment_strategy: 'relayer', timeout_seconds: 60 }]) {
    await policy(policies);
    const seconds = 'timeout_seconds' in policies ? 60 : 120;
    for (const end of [(await now()) + YEARS, 0, (await now()) + 300]) {
      const inner = await signed(user, [pay(to, '1'), pay(relayer, '1')], { with: (one) => one.setTimebounds(0, end) });
      const text = new RegExp(`must end within ${seconds} s`);
      t.match(await post(bump(inner)), { status: 400, body: { error: text } }, `${JSON.stringify(policies)} ${end}`);
    }
  }
  await policy({});
  const quoted = { operations: [payment(to, 1n)], source_account: user.publicKey(), fee_token: 'native' };
  await policy({ timeout_seconds: 30 });
  const { body } = await ask('POST', '/transactions/sponsored/build', quoted);
  t.ok(Date.parse(body.data.valid_until) <= ((await now()) + 30) * 1_000, 'what is built is good for no longer');
  await policy({});
});

t.test('a user’s envelopes that cannot land yet are refused', async (t) => {
  const user = await funded();
  const used = await sequenceOf(user.publicKey());
  const end = (await now()) + 100;
  const at = (sequence: bigint) =>
    signed(user, [pay(relayer, '0.0001')], { sequence, with: (one) => one.setTimebounds(0, end) });
  t.match(await post(bump(await at(used + 6n))), { status: 400, body: { error: /is not the next of G/ } });
  t.match(await post(bump(await at(used))), { status: 400, body: { error: /is not the next of G/ } });
  const aged = await signed(user, [pay(relayer, '0.0001')], {
    with: (one) => one.setTimebounds(0, end).setMinAccountSequenceAge(90n),
  });
  t.match(await post(bump(aged)), { status: 400, body: { error: /only time bounds are allowed/ } });
  await tickUntil(await submit(bump(await at(used + 1n))), 'confirmed');
});

t.test('too few signatures are told at once, and keep nobody from posting all of them', async (t) => {
  await policy({ fee_payment_strategy: 'relayer' });
  const [client, cosigner, to] = [await funded(), Keypair.random(), await funded()];
  const weights = { masterWeight: 1, lowThreshold: 2, medThreshold: 2, highThreshold: 2 };
  const signer = { ed25519PublicKey: cosigner.publicKey(), weight: 1 };
  await land(await signed(client, [Operation.setOptions({ ...weights, signer })]));
  const inner = await signed(client, [pay(to, '1')]);
  t.match(await post(bump(inner)), { status: 400, body: { error: /The signatures of G\w+ weigh 1, and 2 is needed/ } });
  inner.sign(cosigner);
  await tickUntil(await submit(bump(inner)), 'confirmed');
  t.equal(await balanceOf(to.publicKey()), 101n * LUMEN);
  await policy({});
});

t.test('the same transaction with other signatures is a request of its own with one effect', async (t) => {
  await policy({ fee_payment_strategy: 'relayer' });
  const [client, other, to] = [await funded(), Keypair.random(), await funded()];
  await land(
    await signed(client, [Operation.setOptions({ signer: { ed25519PublicKey: other.publicKey(), weight: 1 } })]),
  );
  const sequence = (await sequenceOf(client.publicKey())) + 1n;
  const end = (await now()) + 600;
  const by = (signer: Keypair) =>
    signed(client, [pay(to, '1')], { sequence, signers: [signer], with: (one) => one.setTimebounds(0, end) });
  const ids = [await submit(bump(await by(client))), await submit(bump(await by(other)))];
  t.not(ids[0], ids[1]);
  const ended = [await tickUntil(ids[0] ?? '', 'confirmed'), await tickUntil(ids[1] ?? '', 'confirmed')];
  t.strictSame(
    ended.map(({ fee }) => fee).toSorted((a, b) => a - b),
    [0, 200],
    'the fee is paid once',
  );
  t.equal(await balanceOf(to.publicKey()), 101n * LUMEN);
  await policy({});
});

t.test('a trust line is paid for once, however often it is asked for', async (t) => {
  const issuer = await funded();
  const usd = new Asset('USD', issuer.publicKey());
  await policy({ allowed_tokens: [{ asset: `USD:${issuer.publicKey()}` }] });
  const before = await balanceOf(relayer.publicKey());
  const text = (await signed(relayer, [Operation.changeTrust({ asset: usd })], { signers: [] })).toXdr();
  const ids = await Promise.all(Array.from({ length: 5 }, () => submit({ transaction_xdr: text })));
  const ended = [];
  for (const id of ids) ended.push(await stage.tickUntilEnd(id));
  t.equal(before - (await balanceOf(relayer.publicKey())), 100n);
  t.equal(ended.filter(({ status }) => status === 'confirmed').length, 1);
  t.equal(ended.filter(({ status }) => status === 'failed').length, 4);
  t.match(ended.find(({ status }) => status === 'failed')?.status_reason, /has a trust line for USD:G\w+ already/);
  await policy({});
});

t.test('what is under way is not signed away a second time', async (t) => {
  const to = await funded();
  await policy({ fee_payment_strategy: 'relayer', min_balance: String(50n * LUMEN) });
  const id = await submit({ operations: [payment(to, 40n * LUMEN)] });
  await until(id, ({ status }) => status === 'submitted');
  const sequence = (await sequenceOf(relayer.publicKey())) + 2n;
  const own = await signed(relayer, [pay(to, '40')], { signers: [], sequence });
  t.match(await ask('POST', '/sign-transaction', { unsigned_xdr: own.toXdr() }), {
    status: 400,
    body: { error: /Insufficient balance: .*Stays: 500000000, Under way: 4000\d{5}/ },
  });
  await tickUntil(id, 'confirmed');
  await policy({});
});

t.test('nothing holds up the lane that no ledger takes yet', async (t) => {
  await policy({ fee_payment_strategy: 'relayer' });
  const to = await funded();
  const later = (await now()) + 100;
  const starts: ((one: TransactionBuilder) => unknown)[] = [
    (one) => one.setTimebounds(later, 0),
    (one) => one.setTimebounds(0, 0).setLedgerbounds(2_000_000_000, 0),
  ];
  for (const start of starts) {
    const own = await signed(relayer, [pay(to, '1')], { signers: [], with: start });
    const [early, next] = [
      await submit({ transaction_xdr: own.toXdr() }),
      await submit({ operations: [payment(to, 1n)] }),
    ];
    const { status_reason: reason } = await until(early, ({ status }) => status === 'failed');
    t.match(reason, /begin at \d+|good from ledger 2000000000/);
    await tickUntil(next, 'confirmed');
  }
  t.equal(await balanceOf(to.publicKey()), 100n * LUMEN + 2n);
  await policy({});
});

t.test('what contracts take is held against min_balance too', async (t) => {
  await policy({ fee_payment_strategy: 'relayer', min_balance: String(30n * LUMEN) });
  const to = await funded();
  const native = await net.assetContract('native');
  const call = (stroops: bigint) => invoke(native, 'transfer', address(relayer), address(to), i128(stroops));
  const waits = /Insufficient balance: .*Stays: 300000000/;
  const amount = (stroops: bigint) => ({ i128: { hi: '0', lo: String(stroops) } });
  const asked = (stroops: bigint) => ({
    operations: [
      {
        type: 'invoke_contract',
        contract_address: native,
        function_name: 'transfer',
        args: [{ address: relayer.publicKey() }, { address: to.publicKey() }, amount(stroops)],
      },
    ],
  });
  const own = await signed(relayer, [call(50n * LUMEN)], { signers: [] });
  for (const body of [asked(50n * LUMEN), { transaction_xdr: own.toXdr() }]) {
    const id = await submit(body);
    t.match((await until(id, ({ status_reason: reason }) => reason != null)).status_reason, waits);
    await ask('DELETE', `/transactions/${id}`);
    await until(id, ({ status }) => status === 'canceled');
  }
  const prepared = await stage.server.prepareTransaction(own);
  t.match(await ask('POST', '/sign-transaction', { unsigned_xdr: prepared.toXdr() }), {
    status: 400,
    body: { error: waits },
  });
  await tickUntil(await submit(asked(LUMEN)), 'confirmed');
  t.equal(await balanceOf(to.publicKey()), 101n * LUMEN);
  await policy({});
});

t.test('nobody acts on the relayer’s account by what the relayer has not signed, or where users pay', async (t) => {
  const [user, other] = [await funded(), await funded()];
  const usd = new Asset('USD', other.publicKey());
  const [destination, pool] = [other.publicKey(), '00'.repeat(32)];
  const muxed = new MuxedAccount(new Account(relayer.publicKey(), '0'), '7').accountId();
  const acts = (source: string): xdr.Operation[] => [
    Operation.payment({ source, destination, asset: Asset.native(), amount: '1' }),
    Operation.createAccount({ source, destination: Keypair.random().publicKey(), startingBalance: '2' }),
    Operation.pathPaymentStrictReceive({
      source,
      destination,
      sendAsset: Asset.native(),
      sendMax: '90',
      destAsset: usd,
      destAmount: '1',
    }),
    Operation.createClaimableBalance({
      source,
      asset: Asset.native(),
      amount: '5',
      claimants: [new Claimant(destination)],
    }),
    Operation.claimClaimableBalance({ source, balanceId: '00'.repeat(36) }),
    Operation.beginSponsoringFutureReserves({ source, sponsoredId: user.publicKey() }),
    Operation.endSponsoringFutureReserves({ source }),
    Operation.revokeAccountSponsorship({ source, account: destination }),
    Operation.setTrustLineFlags({ source, asset: usd, trustor: destination, flags: { authorized: true } }),
    Operation.clawback({ source, asset: usd, from: destination, amount: '1' }),
    Operation.changeTrust({ source, asset: usd }),
    Operation.manageData({ source, name: 'a', value: 'b' }),
    Operation.bumpSequence({ source, bumpTo: '9' }),
    Operation.inflation({ source }),
    Operation.liquidityPoolDeposit({
      source,
      liquidityPoolId: pool,
      maxAmountA: '8',
      maxAmountB: '9',
      minPrice: '1',
      maxPrice: '1',
    }),
    Operation.liquidityPoolWithdraw({ source, liquidityPoolId: pool, amount: '8', minAmountA: '0', minAmountB: '0' }),
  ];
  const end = (await now()) + 60;
  for (const fee_payment_strategy of ['user', 'relayer']) {
    await policy({ fee_payment_strategy });
    for (const act of [...acts(relayer.publicKey()), ...acts(muxed).slice(0, 2)]) {
      const inner = await signed(user, [pay(relayer, '1'), act], { with: (one) => one.setTimebounds(0, end) });
      const error = /operations\.1: it acts on the relayer's own account/;
      const name = `${fee_payment_strategy} ${act.body.type}`;
      t.match(await post(bump(inner)), { status: 400, body: { error } }, name);
      // Where the relayer pays, who may sign with it may have this signed.
      if (fee_payment_strategy === 'relayer') continue;
      t.match(
        await ask('POST', '/sign-transaction', { unsigned_xdr: inner.toXdr() }),
        { status: 400, body: { error } },
        name,
      );
    }
  }
  const leap = await signed(relayer, [Operation.bumpSequence({ bumpTo: String(2n ** 63n - 1n) })], { signers: [] });
  const error = /operations\.0: the sequence of the relayer's account cannot be moved/;
  t.match(await post({ transaction_xdr: leap.toXdr() }), { status: 400, body: { error } });
  t.match(await ask('POST', '/sign-transaction', { unsigned_xdr: leap.toXdr() }), { status: 400, body: { error } });
  await policy({});
});
