// Threat: the relayer sponsors fees for less than its price, or for a payment that cannot happen.
import { Asset, type Keypair, Operation, type xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/stellar/configuration/policy.ts';
import { readEnvelope } from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';
import { assertPaid, paymentIn } from '../../../../../../src/chains/stellar/sponsor/payment.ts';
import { NO_MARKET } from '../../../../../support/no-market.ts';
import { CLIENT, envelopeText, OTHER, payOp } from '../../../../../support/stellar-envelopes.ts';
import { type Known, knowing } from '../../../../../support/stellar-ledger.ts';
import { RELAYER } from '../../../../../support/stellar-relayer.ts';

const ADDRESS = RELAYER.publicKey();
const USD = new Asset('USD', OTHER.publicKey());
const LUMENS = Asset.native();
const toRelayer = (amount: string, asset = LUMENS, source?: Keypair) =>
  Operation.payment({ destination: ADDRESS, amount, asset, ...(source && { source: source.publicKey() }) });
const of = (...operations: xdr.Operation[]) => envelopeText(CLIENT, operations);

t.test('there is one payment to the relayer', (t) => {
  const found = (...operations: xdr.Operation[]) => paymentIn(readEnvelope(of(...operations)).transaction, ADDRESS);
  t.match(found(payOp('1'), toRelayer('2')), { from: CLIENT.publicKey(), amount: 20_000_000n });
  t.match(found(toRelayer('2', LUMENS, OTHER)), { from: OTHER.publicKey() });
  t.throws(() => found(payOp('1')), { message: /there are 0/ });
  t.throws(() => found(toRelayer('1'), toRelayer('1')), { message: /there are 2/ });
  t.end();
});

/** A lumen is worth half a dollar. */
const get = async (_path: string, query: Readonly<Record<string, string>>) => ({
  _embedded: {
    records: [
      {
        destination_asset_code: 'USD',
        destination_asset_issuer: OTHER.publicKey(),
        destination_amount: (Number(query['source_amount']) / 2).toFixed(7),
      },
    ],
  },
});
const books = { network: 'testnet', horizon: { ...NO_MARKET, get } };

async function paid(amount: string, asset: Asset, { policies = {}, ...known }: Known & { policies?: object } = {}) {
  const request = { inner: of(payOp('1'), toRelayer(amount, asset)), max_fee: 300 };
  const rich: Known = {
    accounts: [[CLIENT, 1_000n]],
    lines: [
      [CLIENT, USD, 1_000n],
      [RELAYER, USD, 10n],
    ],
  };
  const policy = readPolicy({ fee_payment_strategy: 'user', ...policies });
  return assertPaid(knowing({ ...rich, ...known }), request, ADDRESS, policy, books);
}

t.test('it is worth the fee, less what a price may have moved', async (t) => {
  await paid('0.0000300', LUMENS);
  await paid('0.0000297', LUMENS);
  await t.rejects(paid('0.0000296', LUMENS), { message: /Insufficient fee payment: 296 of native is paid, and 300/ });
  await paid('0.0000150', USD);
  await paid('0.0000149', USD);
  await t.rejects(paid('0.0000148', USD), { code: 'INVALID_REQUEST', message: /148 of USD:G\w+ is paid, and 150/ });
  await t.rejects(paid('0.0000149', USD, { policies: { slippage_percentage: 0 } }), { message: /149 of USD/ });
  await t.rejects(paid('0.0000150', USD, { policies: { fee_margin_percentage: 10 } }), { message: /and 165 is asked/ });
  const allowed_tokens = [{ asset: `USD:${OTHER.publicKey()}`, swap_config: { slippage_percentage: 10 } }];
  await paid('0.0000135', USD, { policies: { allowed_tokens } });
  await t.rejects(paid('0.0000300', LUMENS, { policies: { allowed_tokens } }), { message: /native is not allowed/ });
});

t.test('who pays has it, and the relayer can take it', async (t) => {
  await t.rejects(paid('0.0000300', LUMENS, { accounts: [[CLIENT, 299n]] }), { message: /user has 0\.0000299 native/ });
  await t.rejects(paid('0.0000300', LUMENS, { accounts: [] }), { message: /user has 0 native/ });
  const poor: Known['lines'] = [
    [CLIENT, USD, 154n],
    [RELAYER, USD, 10n],
  ];
  await t.rejects(paid('0.0000150', USD, { lines: poor }), { message: /user has 0\.0000149 USD/ });
  await t.rejects(paid('0.0000150', USD, { lines: [] }), { message: /user has 0 USD/ });
  await t.rejects(paid('0.0000150', USD, { lines: [[CLIENT, USD, 1_000n]] }), { message: /no trust line for USD/ });
});
