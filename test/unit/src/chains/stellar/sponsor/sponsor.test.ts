import t from 'tap';
import { sponsorshipOf } from '../../../../../../src/chains/stellar/sponsor/sponsor.ts';
import type { RpcClient } from '../../../../../../src/egress/rpc/rpc-client.ts';
import { createKeySigner } from '../../../../../../src/signers/held-key.ts';
import { CLIENT, envelopeText, payOp, transactionIn } from '../../../../../support/stellar-envelopes.ts';
import { knowing } from '../../../../../support/stellar-ledger.ts';
import { PASSPHRASE, RELAYER, relayerAccount } from '../../../../../support/stellar-relayer.ts';

const account = relayerAccount({ fee_payment_strategy: 'user' });
const read = knowing({ accounts: [[CLIENT, 1_000n]] });
const { quote, build } = sponsorshipOf({
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
