import t from 'tap';
import { attemptPurposeSchema, livingOf, NEW_ATTEMPT } from '../../../../../src/domain/transaction/attempt.ts';

t.test('stored purposes of attempts stay readable', (t) => {
  // Stored rows are read by every later version, so none of these may be removed.
  for (const purpose of ['send', 'bump', 'replace', 'noop']) t.equal(attemptPurposeSchema.parse(purpose), purpose);
  t.notOk(attemptPurposeSchema.safeParse('cancel').success);
  t.end();
});

t.test('what is not proved dead may still execute', (t) => {
  const attempts = [
    { ordinal: 1, deadAt: 0 },
    { ordinal: 2, ...NEW_ATTEMPT },
    { ordinal: 3, deadAt: null },
  ];
  t.strictSame(
    livingOf(attempts).map(({ ordinal }) => ordinal),
    [2, 3],
  );
  t.end();
});
