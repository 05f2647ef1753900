import { Asset } from '@stellar/stellar-sdk';
import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/stellar/configuration/policy.ts';
import { readEnvelope } from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';
import { feeTokenOf } from '../../../../../../src/chains/stellar/sponsor/asset.ts';
import { createSponsorship, sponsoredPriceOf } from '../../../../../../src/chains/stellar/sponsor/sponsor.ts';
import type { RpcClient } from '../../../../../../src/egress/rpc/rpc-client.ts';
import { createKeySigner } from '../../../../../../src/signers/held-key.ts';
import { CLIENT, envelopeText, payOp, transactionIn } from '../../../../../support/stellar-envelopes.ts';
import { knowing } from '../../../../../support/stellar-ledger.ts';
import { PASSPHRASE, RELAYER, relayerAccount } from '../../../../../support/stellar-relayer.ts';

const account = relayerAccount({ fee_payment_strategy: 'user' });
const read = knowing({ accounts: [[CLIENT, 1_000n]] });
const { quote, build } = createSponsorship({
  sideOf: () => ({ onOne: (use: (one: typeof read) => unknown) => use(read) }) as unknown as RpcClient,
  marketOf: async () => ({ books: { network: 'testnet', horizon: null }, forwarder: null, passphrase: PASSPHRASE }),
  blockTimeMs: 5_000,
  guarded: (use) => use(),
});
const body = { transaction_xdr: envelopeText(CLIENT, [payOp('1')], { signers: [] }), fee_token: 'XLM' };

t.test('what is quoted is what is built', async (t) => {
  t.strictSame(await quote(body, account), {
    fee_in_token: '300',
    fee_in_token_ui: '0.00003',
    conversion_rate: '1',
  });
  const built = await build(body, account, createKeySigner('test', Buffer.alloc(32, 21)));
  const { transaction, ...rest } = built;
  t.strictSame(rest, {
    fee_in_token: '300',
    fee_in_token_ui: '0.00003',
    fee_in_stroops: '300',
    fee_token: 'native',
    valid_until: '1970-01-01T00:17:00.000+00:00',
  });
  t.match(transactionIn(String(transaction)), {
    fee: '200',
    signatures: { length: 0 },
    timeBounds: { maxTime: '1020' },
    operations: [{}, { type: 'payment', destination: RELAYER.publicKey(), amount: '0.0000300' }],
  });
});

t.test('who cannot pay gets no quote', async (t) => {
  const poor = { ...body, transaction_xdr: envelopeText(RELAYER, [payOp('1')]) };
  await t.rejects(quote(poor, account), { code: 'INVALID_REQUEST' });
  await t.rejects(quote({ ...body, fee_token: 'nothing' }, account), { message: /Invalid fee_token structure/ });
  await t.rejects(quote({}, account), { message: /missing field `fee_token`/ });
});

t.test('price', async (t) => {
  const { transaction } = readEnvelope(envelopeText(CLIENT, [payOp('1')]));
  const books = { network: 'testnet', horizon: null };
  const price = (policies: object = {}, usual = 100) => {
    const policy = readPolicy({ fee_payment_strategy: 'user', ...policies });
    return sponsoredPriceOf(knowing({ usual }), transaction, feeTokenOf('native', policy), policy, books);
  };

  t.test('the operations, the payment and the bump, at what places cost', async (t) => {
    t.ok(Asset.native().isNative());
    t.strictSame(await price(), { inner: 200n, stroops: 300n, tokens: 300n });
    t.strictSame(await price({}, 1), { inner: 200n, stroops: 300n, tokens: 300n }, 'no less than the network asks');
    t.strictSame(await price({}, 700), { inner: 1_400n, stroops: 2_100n, tokens: 2_100n });
    t.strictSame(await price({ fee_margin_percentage: 10 }), { inner: 200n, stroops: 330n, tokens: 330n });
  });

  t.test('the policies’ limits hold', async (t) => {
    await t.rejects(price({ max_fee: 299 }), { code: 'INVALID_REQUEST', message: 'Max fee exceeded: 299' });
    const allowed_tokens = [{ asset: 'native', max_allowed_fee: 298 }];
    await t.rejects(price({ allowed_tokens }), { message: 'Max fee exceeded: 298' });
  });
});
