import t from 'tap';
import { attemptPurposeSchema } from '../../../../src/domain/transaction.ts';

t.test('stored purposes of versions stay readable', (t) => {
  // A row that was written once is read by every later version, so none of these may go.
  for (const purpose of ['send', 'bump', 'replace', 'void']) t.equal(attemptPurposeSchema.parse(purpose), purpose);
  t.notOk(attemptPurposeSchema.safeParse('cancel').success);
  t.end();
});
