import { xdr } from '@stellar/stellar-sdk/base';
import t from 'tap';
import { returnValueIn } from '../../../../../../src/chains/stellar/inclusion/return-value.ts';

const ext = xdr.ExtensionPoint.v0();
const none = { txChangesBefore: [], operations: [], txChangesAfter: [] };

function newer(returnValue: xdr.ScVal | null): string {
  const sorobanMeta = new xdr.SorobanTransactionMetaV2({ ext: xdr.SorobanTransactionMetaExt.v0(), returnValue });
  const meta = new xdr.TransactionMetaV4({ ext, ...none, sorobanMeta, events: [], diagnosticEvents: [] });
  return xdr.TransactionMeta.v4(meta).toXdr('base64');
}

function older(returnValue: xdr.ScVal): string {
  const sorobanMeta = new xdr.SorobanTransactionMeta({
    ext: xdr.SorobanTransactionMetaExt.v0(),
    events: [],
    diagnosticEvents: [],
    returnValue,
  });
  return xdr.TransactionMeta.v3(new xdr.TransactionMetaV3({ ext, ...none, sorobanMeta })).toXdr('base64');
}

t.test('what came back is told, of both forms', (t) => {
  const value = xdr.ScVal.scvU32(7);
  t.equal(returnValueIn(newer(value)), value.toXdr('base64'));
  t.equal(returnValueIn(older(value)), value.toXdr('base64'));
  t.equal(returnValueIn(newer(null)), undefined);
  t.end();
});

t.test('what is unknown or too long is left out', (t) => {
  t.equal(returnValueIn('AAAACQ=='), undefined, 'of a newer protocol');
  t.equal(returnValueIn('no'), undefined);
  const classic = new xdr.TransactionMetaV4({ ext, ...none, sorobanMeta: null, events: [], diagnosticEvents: [] });
  t.equal(returnValueIn(xdr.TransactionMeta.v4(classic).toXdr('base64')), undefined);
  t.equal(returnValueIn(xdr.TransactionMeta.v2(new xdr.TransactionMetaV2(none)).toXdr('base64')), undefined);
  t.equal(returnValueIn(newer(xdr.ScVal.scvBytes(Buffer.alloc(64 * 1024)))), undefined);
  t.end();
});
