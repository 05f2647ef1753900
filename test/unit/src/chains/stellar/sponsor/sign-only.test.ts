import t, { type Test } from 'tap';
import { rpcDialect } from '../../../../../../src/chains/stellar/rpc-error-dialect.ts';
import { signOnlyRequestSchema, signOnlyTransaction } from '../../../../../../src/chains/stellar/sponsor/sign-only.ts';
import type { JsonObject } from '../../../../../../src/domain/json/json.ts';
import { createKeySigner } from '../../../../../../src/signers/held-key.ts';
import { newAccount } from '../../../../../doubles/stellar/ledger/account.ts';
import { keyToXdr } from '../../../../../doubles/stellar/ledger/entry-key.ts';
import { toEntryData } from '../../../../../doubles/stellar/ledger/entry-xdr.ts';
import { openRpc } from '../../../../../support/evm.ts';
import { answersByMethod, startRpcDouble } from '../../../../../support/rpc-double.ts';
import {
  bumpText,
  CLIENT,
  type EnvelopeHow,
  envelopeText,
  payOp,
  transactionIn,
} from '../../../../../support/stellar-envelopes.ts';
import { PASSPHRASE, RELAYER, relayerAccount } from '../../../../../support/stellar-relayer.ts';

const signer = createKeySigner('test', Buffer.alloc(32, 21));

/** Signs the text with a node where the account has 10 lumens and `used` as its last sequence. */
async function sign(t: Test, source: typeof CLIENT, text: string, policies: JsonObject = {}, used: bigint | null = 7n) {
  const entry = { ...newAccount(source.publicKey(), 100_000_000n, 1), sequence: used ?? 0n };
  const found = { key: keyToXdr(entry).toXdr('base64'), xdr: toEntryData(entry).toXdr('base64') };
  const double = await startRpcDouble(
    answersByMethod({
      getLatestLedger: { sequence: 50, closeTime: '1000' },
      getLedgerEntries: { latestLedger: 50, entries: used === null ? [] : [found] },
    }),
  );
  const rpc = openRpc([double.url], undefined, rpcDialect);
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  const account = relayerAccount(policies);
  return signOnlyTransaction({ unsigned_xdr: text }, { rpc, passphrase: PASSPHRASE, account, signer });
}
const own = (how: EnvelopeHow = {}) => envelopeText(RELAYER, [payOp('1')], { signers: [], ...how });

t.test('its signature comes behind those that are there', async (t) => {
  const text = envelopeText(CLIENT, [payOp('1')]);
  const { signedXdr, signature } = await sign(t, CLIENT, text);
  const back = transactionIn(String(signedXdr));
  t.equal(back.signatures.length, 2);
  t.same(Buffer.from(back.signatures[1]?.signature.toBytes() ?? []).toString('base64'), signature);
  t.ok(RELAYER.verify(back.hash(), Buffer.from(String(signature), 'base64')));
  t.match(await sign(t, CLIENT, String(signedXdr)), { signedXdr, signature }, 'it is not there twice');
  t.match(await sign(t, CLIENT, text, {}, null), { signedXdr }, 'an account that is still to be made');
});

t.test('policies hold', async (t) => {
  const refused = async (text: string, message: RegExp, policies: JsonObject = {}, source = RELAYER, used = 7n) =>
    t.rejects(sign(t, source, text, policies, used), { code: 'INVALID_REQUEST', message });
  await refused(bumpText(envelopeText(CLIENT, [payOp('1')]), 400n), /not signed here/);
  await refused(own(), /Max fee exceeded: 99/, { max_fee: 99 });
  await refused(own(), /must end within 60 s/, { timeout_seconds: 60 });
  await refused(own(), /Stays: 99000000/, { min_balance: 99_000_000 });
  await refused(own(), /Source account is the relayer's own/, { fee_payment_strategy: 'user' });
  await refused(own({ signers: Array.from({ length: 20 }, () => CLIENT) }), /has 20 signatures already/);
  const foreign = (how: EnvelopeHow = {}, relayers?: typeof RELAYER) =>
    envelopeText(CLIENT, [payOp('1', relayers)], how);
  await refused(foreign({}, RELAYER), /own_funds denies that/, { own_funds: 'deny' }, CLIENT);
  await sign(t, CLIENT, foreign({}, RELAYER));
  await refused(foreign(), /Sequence 8 of G\w+ is used: its last is 8/, {}, CLIENT, 8n);
  await refused(foreign(), /must end within 120 s/, { fee_payment_strategy: 'user' }, CLIENT);
  await sign(t, CLIENT, foreign({ maxTime: 1_100 }), { fee_payment_strategy: 'user' });
});

t.test('it is one envelope', (t) => {
  t.ok(signOnlyRequestSchema.safeParse({ unsigned_xdr: 'AAAA' }).success);
  for (const bad of [{}, { unsigned_xdr: 5 }, { unsigned_xdr: 'AAAA', transaction: 'AAAA' }]) {
    t.notOk(signOnlyRequestSchema.safeParse(bad).success);
  }
  t.end();
});
