import t from 'tap';
import { isRead, takesSignedBytes } from '../../../../../src/chains/stellar/rpc.ts';

t.test('what only reads, and what sends', async (t) => {
  for (const method of ['getLedgerEntries', 'getTransaction', 'simulateTransaction', 'getFeeStats']) {
    t.ok(isRead(method), method);
    t.notOk(takesSignedBytes(method), method);
  }
  t.notOk(isRead('sendTransaction'));
  t.ok(takesSignedBytes('sendTransaction'));
  t.notOk(isRead('getSomethingNew'), 'what is not known may do something');
  t.notOk(isRead(''));
});
