import t from 'tap';
import { onDeathSchema } from '../../../../../src/domain/transaction/transaction.ts';

t.test('what was stored of the end of transactions stays readable', (t) => {
  // Stored rows are read by every later version, so none of these may be removed.
  for (const word of ['renew', 'end', 'never']) t.equal(onDeathSchema.parse(word), word);
  t.notOk(onDeathSchema.safeParse('resign').success);
  t.end();
});
