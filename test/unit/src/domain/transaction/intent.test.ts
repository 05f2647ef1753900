import t from 'tap';
import { intentActionSchema } from '../../../../../src/domain/transaction/intent.ts';

t.test('an intent is to cancel or to replace, and nothing else', (t) => {
  const request = { value: '0x1', data: null };
  for (const action of [
    { kind: 'cancel' },
    { kind: 'replace', request, validUntil: null },
    { kind: 'replace', request: {}, validUntil: 5 },
  ]) {
    t.strictSame(intentActionSchema.parse(action), action);
  }
  for (const wrong of [
    null,
    {},
    { kind: 'pause' },
    { kind: 'cancel', request },
    { kind: 'replace', request },
    { kind: 'replace', request: [], validUntil: null },
    { kind: 'replace', request: null, validUntil: null },
    { kind: 'replace', request, validUntil: 1.5 },
  ]) {
    t.notOk(intentActionSchema.safeParse(wrong).success, JSON.stringify(wrong));
  }
  t.end();
});
