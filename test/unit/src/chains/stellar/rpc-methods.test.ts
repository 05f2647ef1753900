import t from 'tap';
import { isReadMethod, takesSignedBytes } from '../../../../../src/chains/stellar/rpc-methods.ts';

t.test('what only reads, and what sends', async (t) => {
  for (const method of ['getLedgerEntries', 'getTransaction', 'simulateTransaction', 'getFeeStats']) {
    t.ok(isReadMethod(method), method);
    t.notOk(takesSignedBytes(method), method);
  }
  t.notOk(isReadMethod('sendTransaction'));
  t.ok(takesSignedBytes('sendTransaction'));
  t.notOk(isReadMethod('getSomethingNew'), 'what is not known may do something');
  t.notOk(isReadMethod(''));
});
