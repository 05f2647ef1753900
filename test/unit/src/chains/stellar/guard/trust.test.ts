// Threat: a relayer whose users pay trusts a token in which nobody pays, limits or ends a trustline that it needs, or
// pays too much for the change.
import { Asset, LiquidityPoolAsset, Operation, type xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/stellar/configuration/policy.ts';
import { trustedBy } from '../../../../../../src/chains/stellar/guard/trust.ts';
import { readEnvelope } from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';
import { type EnvelopeHow, envelopeText, OTHER, payOp } from '../../../../../support/stellar-envelopes.ts';
import { RELAYER } from '../../../../../support/stellar-relayer.ts';

const [USD, LONGER, EUR] = ['USD', 'DOLLARS', 'EUR'].map((code) => new Asset(code, OTHER.publicKey())) as [
  Asset,
  Asset,
  Asset,
];
const allowed = [USD, LONGER].map(({ code, issuer }) => ({ asset: `${code}:${issuer}` }));
const policy = readPolicy({ fee_payment_strategy: 'user', allowed_tokens: [...allowed, { asset: 'native' }] });
const trusted = (operations: xdr.Operation[], how: EnvelopeHow = {}) =>
  trustedBy(readEnvelope(envelopeText(RELAYER, operations, how)).transaction, policy);
const trust = (asset: Asset | LiquidityPoolAsset, limit?: string) =>
  Operation.changeTrust({ asset, ...(limit === undefined ? {} : { limit }) });

t.test('only what users pay in, without a limit, and nothing else', (t) => {
  t.strictSame(trusted([trust(USD), trust(LONGER)])?.map(String), [String(USD), String(LONGER)]);
  t.equal(trusted([trust(USD), trust(EUR)]), undefined);
  t.equal(trusted([trust(USD), payOp('1')]), undefined);
  t.equal(trusted([trust(USD, '0')]), undefined, 'that would end it');
  t.equal(trusted([trust(USD, '5')]), undefined);
  t.equal(trusted([trust(new LiquidityPoolAsset(Asset.native(), USD, 30))]), undefined);
  t.equal(trusted([trust(USD)], { fee: '101' }), undefined, 'for the least fee');
  const foreign = Operation.changeTrust({ asset: USD, source: OTHER.publicKey() });
  t.equal(trusted([foreign]), undefined, 'of its own account');
  const any = readPolicy({ fee_payment_strategy: 'user' });
  t.equal(trustedBy(readEnvelope(envelopeText(RELAYER, [trust(USD)])).transaction, any), undefined, 'by name only');
  t.end();
});
