import t from 'tap';
import { readFields, readRequest, sequenceUsed } from '../../../../../src/chains/stellar/schema.ts';

const FIELDS = { passphrase: 'Mine', source: 'GUS', fee: '100', max_time: '0', ledger: '9' };

t.test('stored requests and fields are parsed on the way out', async (t) => {
  t.strictSame(readRequest({ inner: 'AAAA', max_fee: 7 }), { inner: 'AAAA', max_fee: 7 });
  t.throws(() => readRequest({ inner: 'AAAA' }), /max_fee|Invalid/);
  t.equal(readFields({}), undefined, 'before it is prepared');
  t.match(readFields(FIELDS), { source: 'GUS', ledger: '9' });
  t.throws(() => readFields({ ...FIELDS, fee: -1 }), /fee/);
});

t.test('a fee bump uses the sequence of the inner transaction, another that of its anchor', async (t) => {
  const own = readFields({ ...FIELDS });
  const bump = readFields({ ...FIELDS, inner: { hash: 'ab', source: 'GTHEM', sequence: '41' } });
  if (own === undefined || bump === undefined) throw new Error('they are prepared');
  t.strictSame(sequenceUsed(bump, { kind: 'text', text: 'x' }), { source: 'GTHEM', sequence: 41n });
  t.strictSame(sequenceUsed(own, { kind: 'sequence', sequence: 5n }), { source: 'GUS', sequence: 5n });
  t.throws(() => sequenceUsed(own, { kind: 'none' }), TypeError);
});
