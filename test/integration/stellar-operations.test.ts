/**
 * The promise: classic operations on the tests' Stellar network do what they do on Stellar. Each refusal has the code
 * of stellar-core's operation. Stellar's public client drives it.
 */
import { createHash } from 'node:crypto';
import type { xdr } from '@stellar/stellar-sdk';
import { Asset, AuthRequiredFlag, AuthRevocableFlag, Claimant, Keypair, Operation } from '@stellar/stellar-sdk';
import t from 'tap';
import { openMarket } from '../support/stellar-market.ts';
import { codeOf, LUMEN, startStellarScene } from '../support/stellar-scene.ts';

const scene = await startStellarScene();
t.teardown(() => scene.net.stop());
const { net, server, funded, signed, send, land, balanceOf, sequenceOf } = scene;

/** Lands operations in one transaction, and returns its result code. */
const done = async (source: Keypair, ...operations: xdr.Operation[]) =>
  codeOf(await land(await signed(source, operations)));

const pay = (to: Keypair, amount: string, asset = Asset.native()) =>
  Operation.payment({ destination: to.publicKey(), amount, asset });
const holding = async (owner: Keypair, asset: Asset) => (await server.getTrustline(owner.publicKey(), asset)).balance;

async function market(...amounts: string[]) {
  const { issuer, asset, holders } = await openMarket(scene, 'USD', ...amounts);
  return { issuer, usd: asset, holders };
}

// CreateAccountResultCode, AccountMergeResultCode; the starting sequence is the ledger's number, shifted (CAP-1).
t.test('an account is made with a reserve, merged, and never falls back behind itself', async (t) => {
  const [maker, made] = [await funded(), Keypair.random()];
  const create = (startingBalance: string, destination = made) =>
    Operation.createAccount({ destination: destination.publicKey(), startingBalance });
  t.equal(await done(maker, pay(made, '1')), 'txFailed paymentNoDestination');
  t.equal(await done(maker, create('0.9999999')), 'txFailed createAccountLowReserve');
  t.equal(await done(maker, create('1000')), 'txFailed createAccountUnderfunded');
  t.equal(await done(maker, create('5')), 'txSuccess');
  t.equal(await done(maker, create('5')), 'txFailed createAccountAlreadyExist');
  const ledger = (await server.getLatestLedger()).sequence - 1;
  t.equal(await sequenceOf(made.publicKey()), BigInt(ledger) << 32n);
  t.equal(await balanceOf(made.publicKey()), 5n * LUMEN);

  const merge = Operation.accountMerge({ destination: maker.publicKey() });
  const bump = Operation.bumpSequence({ bumpTo: String(BigInt(ledger + 3) << 32n) });
  t.equal(await done(made, bump, merge), 'txFailed bumpSequenceSuccess accountMergeSeqnumTooFar');
  t.equal(await done(made, pay(maker, '4')), 'txFailed paymentUnderfunded', 'the reserve stays');
  t.equal(await done(made, merge), 'txSuccess');
  await t.rejects(balanceOf(made.publicKey()), /Account not found/);
  const spent = 5n * 100n + 4n * 100n;
  t.equal(await balanceOf(maker.publicKey()), 100n * LUMEN - spent);
});

// CAP-1: BumpSequence.
t.test('a sequence leaps, and only ahead', async (t) => {
  const payer = await funded();
  const sequence = await sequenceOf(payer.publicKey());
  t.equal(await done(payer, Operation.bumpSequence({ bumpTo: String(sequence + 900n) })), 'txSuccess');
  t.equal(await sequenceOf(payer.publicKey()), sequence + 900n);
  t.equal(await done(payer, Operation.bumpSequence({ bumpTo: '0' })), 'txSuccess', 'back is no failure');
  t.equal(await sequenceOf(payer.publicKey()), sequence + 901n);
});

// ChangeTrustResultCode, PaymentResultCode; CAP-18 for authorization.
t.test('a balance in an asset needs a trust line, within its limit and with its issuer’s consent', async (t) => {
  const { issuer, usd, holders } = await market('100', '0');
  const [holder, other] = holders as [Keypair, Keypair];
  const stranger = await funded();
  const trust = (limit: string) => Operation.changeTrust({ asset: usd, limit });
  t.match(await holding(holder, usd), 100n * LUMEN);
  t.equal(await done(holder, pay(stranger, '1', usd)), 'txFailed paymentNoTrust');
  t.equal(await done(stranger, pay(holder, '1', usd)), 'txFailed paymentSrcNoTrust');
  t.equal(await done(holder, pay(other, '100.0000001', usd)), 'txFailed paymentUnderfunded');
  t.equal(await done(other, trust('30')), 'txSuccess');
  t.equal(await done(holder, pay(other, '30.0000001', usd)), 'txFailed paymentLineFull');
  t.equal(await done(holder, pay(other, '30', usd)), 'txSuccess');
  t.equal(await done(other, trust('0')), 'txFailed changeTrustInvalidLimit', 'a line that holds something stays');
  t.equal(await done(other, pay(issuer, '30', usd), trust('0')), 'txSuccess', 'credits go back to their issuer');
  t.equal(
    await done(issuer, Operation.changeTrust({ asset: usd })).catch(String),
    'Error: The transaction was not taken in: txFailed changeTrustMalformed.',
  );
  const nobody = new Asset('USD', Keypair.random().publicKey());
  t.equal(await done(other, Operation.changeTrust({ asset: nobody })), 'txFailed changeTrustNoIssuer');
  const poor = await funded(LUMEN + 4_999_999n + 100n);
  t.equal(await done(poor, Operation.changeTrust({ asset: usd })), 'txFailed changeTrustLowReserve');

  const flags = AuthRequiredFlag | AuthRevocableFlag;
  t.equal(await done(issuer, Operation.setOptions({ setFlags: flags })), 'txSuccess');
  t.equal(await done(stranger, Operation.changeTrust({ asset: usd })), 'txSuccess');
  t.equal(await done(holder, pay(stranger, '1', usd)), 'txFailed paymentNotAuthorized');
  const authorize = (trustor: Keypair, authorized: boolean) =>
    Operation.setTrustLineFlags({ trustor: trustor.publicKey(), asset: usd, flags: { authorized } });
  t.equal(await done(issuer, authorize(stranger, true)), 'txSuccess');
  t.equal(await done(holder, pay(stranger, '1', usd)), 'txSuccess');
  t.equal(await done(issuer, authorize(holder, false)), 'txSuccess');
  t.equal(await done(holder, pay(stranger, '1', usd)), 'txFailed paymentSrcNotAuthorized');
});

// TransactionResultCode: txFAILED, with the result of each operation.
t.test('all operations of a transaction count, or none', async (t) => {
  const [payer, to] = [await funded(), await funded()];
  t.equal(
    await done(payer, pay(to, '60'), pay(to, '60'), pay(to, '5')),
    'txFailed paymentSuccess paymentUnderfunded paymentSuccess',
  );
  t.equal(await balanceOf(to.publicKey()), 100n * LUMEN);
  t.equal(await balanceOf(payer.publicKey()), 100n * LUMEN - 300n, 'but for the fee of each');
});

// stellar-core: TransactionFrame::checkSignature and the thresholds; opBAD_AUTH, txBAD_AUTH_EXTRA.
t.test('signers bring the weight that an operation asks', async (t) => {
  const [owner, one, two] = [await funded(), Keypair.random(), Keypair.random()];
  const secret = Buffer.from('a secret');
  const signer = (ed25519PublicKey: string, weight: number) => ({ ed25519PublicKey, weight });
  const set = (options: Parameters<typeof Operation.setOptions>[0]) => Operation.setOptions(options);
  const hashX = createHash('sha256').update(secret).digest();
  await land(
    await signed(owner, [set({ signer: signer(one.publicKey(), 1) }), set({ signer: signer(two.publicKey(), 1) })]),
  );
  await land(await signed(owner, [set({ lowThreshold: 1, medThreshold: 2, highThreshold: 3 })]));
  const attempt = async (signers: Keypair[], ...operations: xdr.Operation[]) => {
    const transaction = await signed(owner, operations, { signers });
    const status = await send(transaction);
    if (status === 'PENDING') await net.tick();
    return status;
  };
  const bump = Operation.bumpSequence({ bumpTo: '0' });
  t.equal(await attempt([one], bump), 'PENDING', 'low is enough');
  t.equal(await attempt([one], pay(owner, '1')), 'txFailed opBadAuth');
  t.equal(await attempt([one, two], pay(owner, '1')), 'PENDING', 'two make medium');
  t.equal(await attempt([one, two], set({ homeDomain: 'example.org' })), 'PENDING');
  t.equal(await attempt([one, two], set({ masterWeight: 0 })), 'txFailed opBadAuth');
  t.equal(await attempt([owner, one, two], set({ masterWeight: 0 })), 'PENDING', 'all three make high');
  t.equal(await attempt([owner], bump), 'txBadAuth', 'a master key without weight signs nothing');
  t.equal(await attempt([one, two, owner], bump), 'txBadAuthExtra');
  t.equal(
    await attempt([one, two], Operation.setOptions({ signer: signer(one.publicKey(), 2) })),
    'txFailed opBadAuth',
  );

  const locked = await funded();
  await land(await signed(locked, [set({ signer: { sha256Hash: hashX, weight: 1 } })]));
  const opened = await signed(locked, [pay(locked, '1')], { signers: [] });
  opened.signHashX(secret);
  t.equal(await send(opened), 'PENDING');
  await net.tick();
  const prepared = await signed(locked, [pay(locked, '2')], {
    sequence: (await sequenceOf(locked.publicKey())) + 2n,
    signers: [],
  });
  await land(await signed(locked, [set({ signer: { preAuthTx: prepared.hash(), weight: 1 } })]));
  const before = await server.getAccountEntry(locked.publicKey());
  t.equal(codeOf(await land(prepared)), 'txSuccess', 'consent that was given before');
  const after = await server.getAccountEntry(locked.publicKey());
  t.same([before.signers.length, after.signers.length], [2, 1], 'is good once');
});

// ManageDataResultCode.
t.test('data is kept under a name', async (t) => {
  const owner = await funded();
  const put = (value: string | null) => Operation.manageData({ name: 'colour', value });
  t.equal(await done(owner, put(null)), 'txFailed manageDataNameNotFound');
  t.equal(await done(owner, put('red')), 'txSuccess');
  t.equal((await server.getAccountEntry(owner.publicKey())).numSubEntries, 1);
  t.equal(await done(owner, put('blue'), put(null)), 'txSuccess');
  t.equal((await server.getAccountEntry(owner.publicKey())).numSubEntries, 0);
});

// ManageSellOfferResultCode; CAP-3 for the liabilities of offers.
t.test('offers wait in a book, and cross', async (t) => {
  const { usd, holders } = await market('100', '100');
  const [seller, buyer] = holders as [Keypair, Keypair];
  const native = Asset.native();
  const sell = (amount: string, price: string, offerId = '0') =>
    Operation.manageSellOffer({ selling: usd, buying: native, amount, price, offerId });
  const before = await balanceOf(buyer.publicKey());
  t.equal(await done(seller, sell('50', '2')), 'txSuccess');
  t.equal(
    await done(seller, pay(buyer, '50.0000001', usd)),
    'txFailed paymentUnderfunded',
    'what is offered is promised',
  );
  t.equal(await done(seller, sell('51', '2')), 'txFailed manageSellOfferUnderfunded');
  const buy = Operation.manageBuyOffer({ selling: native, buying: usd, buyAmount: '10', price: '2.5' });
  t.equal(await done(buyer, buy), 'txSuccess');
  t.equal(await holding(buyer, usd), 110n * LUMEN);
  t.equal(await balanceOf(buyer.publicKey()), before - 20n * LUMEN - 100n, 'at the price in the book');
  t.equal(
    await done(seller, Operation.manageSellOffer({ selling: native, buying: usd, amount: '1', price: '0.5' })),
    'txFailed manageSellOfferCrossSelf',
  );
  t.equal(await done(seller, sell('0', '2', '77')), 'txFailed manageSellOfferNotFound');
  const result = await land(await signed(seller, [sell('0', '2', '1')]));
  t.equal(codeOf(result), 'txSuccess');
  t.equal(await done(seller, pay(buyer, '90', usd)), 'txSuccess', 'nothing is promised any more');
});

// CAP-24: PathPaymentStrictSendResultCode and PathPaymentStrictReceiveResultCode.
t.test('a payment finds its way through offers', async (t) => {
  const { usd, holders } = await market('100', '0', '0');
  const [maker, payer, to] = holders as [Keypair, Keypair, Keypair];
  const native = Asset.native();
  await land(
    await signed(maker, [Operation.manageSellOffer({ selling: usd, buying: native, amount: '10', price: '2' })]),
  );
  const path = { sendAsset: native, destAsset: usd, destination: to.publicKey(), path: [] };
  const receive = (destAmount: string, sendMax: string) =>
    Operation.pathPaymentStrictReceive({ ...path, destAmount, sendMax });
  const sendOf = (sendAmount: string, destMin: string) =>
    Operation.pathPaymentStrictSend({ ...path, sendAmount, destMin });
  t.equal(await done(payer, receive('4', '7.9999999')), 'txFailed pathPaymentStrictReceiveOverSendmax');
  t.equal(await done(payer, receive('11', '90')), 'txFailed pathPaymentStrictReceiveTooFewOffers');
  t.equal(await done(payer, receive('4', '8')), 'txSuccess');
  t.equal(await holding(to, usd), 4n * LUMEN);
  t.equal(await done(payer, sendOf('4', '2.0000001')), 'txFailed pathPaymentStrictSendUnderDestmin');
  t.equal(await done(payer, sendOf('40', '1')), 'txFailed pathPaymentStrictSendTooFewOffers');
  const result = await land(await signed(payer, [sendOf('4', '2')]));
  const [told] = result.result.type === 'txSuccess' ? result.result.results : [];
  t.match(told, {
    tr: { value: { success: { last: { amount: 2n * LUMEN }, offers: [{ orderBook: { amountBought: 4n * LUMEN } }] } } },
  });
  t.equal(await holding(to, usd), 6n * LUMEN);
  t.equal(await done(maker, receive('1', '9')), 'txFailed pathPaymentStrictReceiveOfferCrossSelf');
});

t.test('operations that are not modelled are refused loudly', async (t) => {
  const owner = await funded();
  const usd = new Asset('USD', owner.publicKey());
  const clawback = Operation.clawback({ asset: usd, from: owner.publicKey(), amount: '1' });
  await t.rejects(send(await signed(owner, [clawback])), { message: /no operation clawback/ });
});

/** The id of the claimable balance that an operation of a transaction has made. */
const balanceOfResult = ({ result }: xdr.TransactionResult, place = 0): string => {
  const [one] = result.type === 'txSuccess' ? result.results.slice(place) : [];
  const made =
    one?.type === 'opInner' && one.tr.type === 'createClaimableBalance'
      ? one.tr.createClaimableBalanceResult
      : undefined;
  if (made?.type !== 'createClaimableBalanceSuccess') throw new Error('No balance was made.');
  return made.balanceId.toXdr('hex');
};

// CAP-23: CreateClaimableBalanceResultCode, ClaimClaimableBalanceResultCode.
t.test('a claimable balance waits for who may claim it, once', async (t) => {
  const [maker, friend, stranger] = [await funded(), await funded(), await funded()];
  const create = (claimants: Claimant[], amount = '10') =>
    Operation.createClaimableBalance({ asset: Asset.native(), amount, claimants });
  const to = (one: Keypair, predicate?: xdr.ClaimPredicate) => new Claimant(one.publicKey(), predicate);
  const twice = await signed(maker, [create([to(friend), to(friend)])]);
  t.equal(await send(twice), 'txFailed createClaimableBalanceMalformed');
  t.equal(await done(maker, create([to(friend)], '99')), 'txFailed createClaimableBalanceUnderfunded');
  const poor = await funded(LUMEN + LUMEN / 10n);
  t.equal(await done(poor, create([to(friend)], '0.01')), 'txFailed createClaimableBalanceLowReserve');
  const late = Claimant.predicateNot(Claimant.predicateBeforeRelativeTime('1000'));
  const transaction = await signed(maker, [create([to(friend), to(stranger, late)])]);
  const balanceId = balanceOfResult(await land(transaction));
  t.equal(transaction.getClaimableBalanceId(0), balanceId, 'the id is what the public client says');
  t.equal(
    await done(maker, pay(friend, '88.9')),
    'txFailed paymentUnderfunded',
    'it keeps a reserve for each claimant',
  );

  const claim = Operation.claimClaimableBalance({ balanceId });
  t.equal(await done(maker, claim), 'txFailed claimClaimableBalanceCannotClaim');
  t.equal(await done(stranger, claim), 'txFailed claimClaimableBalanceCannotClaim', 'its time has not come');
  t.equal(await done(friend, claim), 'txSuccess');
  t.equal(await done(friend, claim), 'txFailed claimClaimableBalanceDoesNotExist');
  t.equal(await balanceOf(friend.publicKey()), 110n * LUMEN - 200n);
  t.equal(await done(maker, pay(friend, '88.9')), 'txSuccess', 'the reserves are back');
});

// CAP-33: BeginSponsoringFutureReservesResultCode, EndSponsoringFutureReservesResultCode, RevokeSponsorshipResultCode.
t.test('who sponsors reserves keeps them, until it is revoked', async (t) => {
  const [sponsor, made, issuer] = [await funded(), Keypair.random(), await funded()];
  const begin = (sponsored = made) => Operation.beginSponsoringFutureReserves({ sponsoredId: sponsored.publicKey() });
  const end = (source: Keypair) => Operation.endSponsoringFutureReserves({ source: source.publicKey() });
  const create = Operation.createAccount({ destination: made.publicKey(), startingBalance: '0' });
  const usd = new Asset('USD', issuer.publicKey());
  const trust = Operation.changeTrust({ asset: usd, source: made.publicKey() });
  const both = async (...operations: xdr.Operation[]) =>
    codeOf(await land(await signed(sponsor, operations, { signers: [sponsor, made] })));
  t.equal(await send(await signed(sponsor, [begin(sponsor)])), 'txFailed beginSponsoringFutureReservesMalformed');
  t.equal(
    await done(sponsor, Operation.endSponsoringFutureReserves()),
    'txFailed endSponsoringFutureReservesNotSponsored',
  );
  t.equal(await done(sponsor, begin(issuer)), 'txBadSponsorship', 'what was begun has to end');
  t.equal(await done(sponsor, create), 'txFailed createAccountLowReserve');
  t.equal(await both(begin(), create, trust, end(made)), 'txSuccess');
  const entryOf = async (one: Keypair) => {
    const { ext } = await server.getAccountEntry(one.publicKey());
    const v2 = ext.type === 'v1' && ext.v1.ext.type === 'v2' ? ext.v1.ext.v2 : undefined;
    return { sponsored: v2?.numSponsored ?? 0, sponsoring: v2?.numSponsoring ?? 0 };
  };
  t.match(await entryOf(made), { sponsored: 3 });
  t.match(await entryOf(sponsor), { sponsoring: 3 });
  t.equal(await balanceOf(made.publicKey()), 0n);
  t.equal(
    await done(sponsor, Operation.accountMerge({ destination: issuer.publicKey() })),
    'txFailed accountMergeIsSponsor',
  );

  const line = { account: made.publicKey(), asset: usd };
  t.equal(await done(issuer, Operation.revokeTrustlineSponsorship(line)), 'txFailed revokeSponsorshipNotSponsor');
  t.equal(await done(sponsor, Operation.revokeTrustlineSponsorship(line)), 'txFailed revokeSponsorshipLowReserve');
  t.equal(
    await done(sponsor, Operation.revokeDataSponsorship({ account: made.publicKey(), name: 'none' })),
    'txFailed revokeSponsorshipDoesNotExist',
  );
  t.equal(await done(sponsor, pay(made, '5')), 'txSuccess');
  t.equal(await done(sponsor, Operation.revokeTrustlineSponsorship(line)), 'txSuccess');
  t.equal(await done(sponsor, Operation.revokeAccountSponsorship({ account: made.publicKey() })), 'txSuccess');
  t.match(await entryOf(made), { sponsored: 0 });
  t.match(await entryOf(sponsor), { sponsoring: 0 });
  // Its own reserves: two for the account and one for the trust line.
  t.equal(await done(made, pay(sponsor, '3.6')), 'txFailed paymentUnderfunded');
  t.equal(await done(made, pay(sponsor, '3.4')), 'txSuccess');
});
