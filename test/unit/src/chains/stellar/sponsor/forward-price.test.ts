// Threat: the relayer pays more for a call than its user pays, or restores archived entries that nobody pays for.
import t from 'tap';
import type { ReadyPreparation } from '../../../../../../src/chains/chain-client.ts';
import { readPolicy } from '../../../../../../src/chains/stellar/configuration/policy.ts';
import type { FeeForward } from '../../../../../../src/chains/stellar/message/forward.ts';
import {
  assertForwardPaid,
  forwarderOf,
  limitToPayment,
  sorobanInclusionFee,
} from '../../../../../../src/chains/stellar/sponsor/forward-price.ts';
import { CLIENT } from '../../../../../support/stellar-envelopes.ts';
import {
  consentBy,
  FORWARDER,
  forwardText,
  forwardTo,
  rootOf,
  TARGET,
} from '../../../../../support/stellar-forwards.ts';
import { fieldsOf, PASSPHRASE, relayerAccount } from '../../../../../support/stellar-relayer.ts';
import { RESOURCES, ran, simulating } from '../../../../../support/stellar-simulation.ts';

const market = { books: { network: 'testnet', horizon: null }, forwarder: FORWARDER, passphrase: PASSPHRASE };
const read = simulating({ calls: { forward: ran() } });
const request = (over: Partial<FeeForward> = {}, lastLedger = 90) => {
  const forward = forwardTo(over);
  return { forward: forwardText(forward), consent: consentBy(CLIENT, rootOf(forward), lastLedger).toXdr('base64') };
};
const account = (policies = {}) => relayerAccount({ fee_payment_strategy: 'user', ...policies });
const paid = (over: Partial<FeeForward>, policies = {}, of = market) =>
  assertForwardPaid(read, request(over), account(policies), of);

t.test('the fee is worth what the call costs by now, less what a price may have moved', async (t) => {
  // Resources of 4,000 and an inclusion fee of 100, less the one percent of slippage.
  await paid({ fee: 4_059n });
  await t.rejects(paid({ fee: 4_058n }), {
    message: /^Insufficient fee payment: fee_amount is 4058 of C\w+, and 4100 is/,
  });
  await t.rejects(paid({ fee: 4_059n }, { fee_margin_percentage: 5 }), { message: /and 4305 is asked/ });
  await paid({ fee: 2_050n }, { slippage_percentage: 50 });
  const listed = (max: number) => ({ allowed_tokens: [{ asset: 'native', max_allowed_fee: max }] });
  await paid({ fee: 5_000n }, listed(5_250));
  await t.rejects(
    paid({ fee: 5_000n }, listed(5_249)),
    { message: 'Max fee exceeded: 5249' },
    'what is consented to counts',
  );
});

t.test('only the network’s forwarder, and calls that a node lets pass', async (t) => {
  await t.rejects(paid({}, {}, { ...market, forwarder: TARGET }), { message: /not the fee forwarder/ });
  t.throws(() => forwarderOf({ ...market, forwarder: null }), {
    message: /FeeForwarder address not configured/,
  });
  const failing = simulating({ calls: {} });
  await t.rejects(assertForwardPaid(failing, request(), account(), market), {
    message: /simulation failed: HostError/,
  });
  const late = assertForwardPaid(read, request({}, 60), account(), market);
  await t.rejects(late, { message: /authorization entry in its auth has expired/ });
  t.equal(await sorobanInclusionFee(read), 100n);
});

/** The prepared fields of a call: its resource fee, and `place` stroops as inclusion fee. */
const prepared = (place: bigint): ReadyPreparation => {
  const fee = RESOURCES + place;
  const contract = { data: String(ran()['transactionData']), consents: [] };
  return { kind: 'ready', fields: fieldsOf({ fee: Number(fee), contract }), cost: fee };
};
const bound = (place: bigint, over: Partial<FeeForward>, policies = {}) =>
  limitToPayment(read, prepared(place), request(over), account(policies).policies, market);

t.test('for its place no more is bid than the user pays for', async (t) => {
  t.match(await bound(100n, { fee: 5_000n }), { fields: { fee: 4_100 }, cost: 4_100n });
  t.match(await bound(90_000n, { fee: 5_000n }), { fields: { fee: 5_050 }, cost: 5_050n }, 'with the tolerance');
  t.match(await bound(90_000n, { fee: 4_060n }), { fields: { fee: 4_101 } });
  t.match(await bound(90_000n, { fee: 4_050n }), { kind: 'refused', reason: /^Insufficient fee payment/ });
  t.ok(readPolicy(account().policies).slippagePercentage === 1);
});

t.test('what is refused stays so, and what nobody pays for is', async (t) => {
  const first = { kind: 'first', first: {} as never, reason: 'archived' } as const;
  const asked = (one: Parameters<typeof limitToPayment>[1], of = market, policies = {}) =>
    limitToPayment(read, one, request(), account(policies).policies, of);
  t.strictSame(await asked(first), { kind: 'refused', reason: 'archived' });
  t.match(await asked({ kind: 'parked', reason: 'no money', retryInMs: 5 }), { kind: 'parked' });
  t.match(await asked(prepared(100n), { ...market, forwarder: TARGET }), {
    kind: 'refused',
    reason: /not the fee forwarder/,
  });
  const others = { allowed_tokens: [{ asset: TARGET }] };
  t.match(await asked(prepared(100n), market, others), { kind: 'refused', reason: /is not allowed for fees/ });
});
