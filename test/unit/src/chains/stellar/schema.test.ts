import t from 'tap';
import { readChainFields, readStoredRequest, sequenceUsed } from '../../../../../src/chains/stellar/schema.ts';

const FIELDS = { passphrase: 'Mine', source: 'GUS', fee: '100', max_time: '0', ledger: '9' };

t.test('stored requests and fields are parsed on the way out', async (t) => {
  t.strictSame(readStoredRequest({ inner: 'AAAA', max_fee: 7 }), { inner: 'AAAA', max_fee: 7 });
  t.throws(() => readStoredRequest({ inner: 'AAAA' }), /max_fee|Invalid/);
  t.equal(readChainFields({}), undefined, 'before it is prepared');
  t.match(readChainFields(FIELDS), { source: 'GUS', ledger: '9' });
  t.throws(() => readChainFields({ ...FIELDS, fee: -1 }), /fee/);
});

t.test('a fee bump uses the sequence of the inner transaction, another that of its anchor', async (t) => {
  const own = readChainFields({ ...FIELDS });
  const bump = readChainFields({ ...FIELDS, inner: { hash: 'ab', source: 'GTHEM', sequence: '41' } });
  if (own === undefined || bump === undefined) throw new Error('they are prepared');
  t.strictSame(sequenceUsed(bump, { kind: 'text', text: 'x' }), { source: 'GTHEM', sequence: 41n });
  t.strictSame(sequenceUsed(own, { kind: 'sequence', sequence: 5n }), { source: 'GUS', sequence: 5n });
  t.throws(() => sequenceUsed(own, { kind: 'none' }), TypeError);
});
