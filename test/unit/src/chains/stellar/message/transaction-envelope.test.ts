import { Account, type Keypair, MuxedAccount, Operation, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { transactionHash } from '../../../../../../src/chains/stellar/message/transaction.ts';
import {
  accountOfAddress,
  accountOfMuxed,
  isSoroban,
  MalformedEnvelope,
  preconditionsOf,
  readEnvelope,
  resourceFeeOf,
  timeBoundsOf,
  transactionShapeFault,
} from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';
import {
  bumpText,
  CLIENT,
  envelopeText,
  OTHER,
  payOp,
  transactionIn,
} from '../../../../../support/stellar-envelopes.ts';
import { PASSPHRASE } from '../../../../../support/stellar-relayer.ts';

const text = envelopeText(CLIENT, [payOp('1')]);

t.test('envelopes of all forms are read as the second', (t) => {
  const { transaction, signatures, isFeeBump } = readEnvelope(text);
  t.match({ signatures: signatures.length, isFeeBump }, { signatures: 1, isFeeBump: false });
  const first = new xdr.TransactionV0({
    sourceAccountEd25519: CLIENT.rawPublicKey(),
    fee: transaction.fee,
    seqNum: transaction.seqNum,
    timeBounds: transaction.cond.type === 'precondTime' ? transaction.cond.timeBounds : null,
    memo: transaction.memo,
    operations: transaction.operations,
    ext: xdr.TransactionV0Ext.v0(),
  });
  const envelope = new xdr.TransactionV0Envelope({ tx: first, signatures: [...signatures] });
  const read = readEnvelope(xdr.TransactionEnvelope.envelopeTypeTxV0(envelope).toXdr('base64'));
  t.same(
    transactionHash(read.transaction, PASSPHRASE),
    Buffer.from(transactionIn(text).hash()),
    'and are signed as that',
  );
  const bump = readEnvelope(bumpText(text, 400n));
  t.match({ isFeeBump: bump.isFeeBump, signatures: bump.signatures.length }, { isFeeBump: true, signatures: 2 });
  t.same(transactionHash(bump.transaction, PASSPHRASE), transactionHash(transaction, PASSPHRASE));
  t.end();
});

t.test('what is no envelope is malformed', (t) => {
  for (const bad of ['', 'AAAA', '?', `${text}AAAA`, text.slice(4)]) {
    t.throws(() => readEnvelope(bad), MalformedEnvelope, bad.slice(0, 8));
  }
  t.end();
});

t.test('its accounts, bounds and resources', (t) => {
  const { transaction } = readEnvelope(text);
  t.equal(accountOfMuxed(transaction.sourceAccount), CLIENT.publicKey());
  const muxed = new xdr.MuxedAccountMed25519({ id: 5n, ed25519: OTHER.rawPublicKey() });
  t.equal(accountOfMuxed(xdr.MuxedAccount.keyTypeMuxedEd25519(muxed)), OTHER.publicKey());
  t.strictSame(timeBoundsOf(transaction), { minTime: 0n, maxTime: 2_000_000_000n });
  t.equal(preconditionsOf(transaction), null);
  t.equal(resourceFeeOf(transaction), 0n);
  t.notOk(isSoroban(transaction));
  const more = envelopeText(CLIENT, [payOp('1')], {
    resourceFee: 70n,
    with: (builder) => builder.setLedgerbounds(5, 9),
  });
  const { transaction: bounded } = readEnvelope(more);
  t.strictSame(timeBoundsOf(bounded), { minTime: 0n, maxTime: 2_000_000_000n });
  t.match(preconditionsOf(bounded), { ledgerBounds: { minLedger: 5, maxLedger: 9 } });
  t.equal(resourceFeeOf(bounded), 70n);
  t.end();
});

t.test('what the protocol refuses whatever it does', (t) => {
  const faultOf = (operations: xdr.Operation[], source: Keypair = CLIENT) =>
    transactionShapeFault(readEnvelope(envelopeText(source, operations)).transaction);
  const soroban = Operation.extendFootprintTtl({ extendTo: 5 });
  t.equal(faultOf([payOp('1')]), undefined);
  t.equal(faultOf([soroban]), undefined);
  t.equal(faultOf([]), 'Transaction has no operations');
  t.match(faultOf([soroban, soroban]), /at most one Soroban operation/);
  t.match(faultOf([soroban, payOp('1')]), /must be exclusive/);
  const { transaction } = readEnvelope(envelopeText(CLIENT, [soroban]));
  const noted = new xdr.Transaction({ ...fieldsOf(transaction), memo: xdr.Memo.memoId(5n) });
  t.match(transactionShapeFault(noted), /cannot have a memo/);
  const many = Array.from({ length: 101 }, () => payOp('1'));
  t.match(
    transactionShapeFault({ ...fieldsOf(transaction), operations: many } as xdr.Transaction),
    /has 101 operations/,
  );
  t.end();
});

function fieldsOf({ sourceAccount, fee, seqNum, cond, memo, operations, ext }: xdr.Transaction) {
  return { sourceAccount, fee, seqNum, cond, memo, operations, ext };
}

t.test('an account is named in two forms', (t) => {
  const muxed = new MuxedAccount(new Account(CLIENT.publicKey(), '0'), '18446744073709551615').accountId();
  t.equal(accountOfAddress(muxed), CLIENT.publicKey());
  for (const other of [CLIENT.publicKey(), `${muxed}A`, '']) t.equal(accountOfAddress(other), other);
  t.end();
});
