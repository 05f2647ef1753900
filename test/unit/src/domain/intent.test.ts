import t from 'tap';
import { wishSchema } from '../../../../src/domain/intent.ts';

t.test('a wish is to cancel or to replace, and nothing else', (t) => {
  const request = { value: '0x1', data: null };
  for (const wish of [
    { kind: 'cancel' },
    { kind: 'replace', request, validUntil: null },
    { kind: 'replace', request: {}, validUntil: 5 },
  ]) {
    t.strictSame(wishSchema.parse(wish), wish);
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
    t.notOk(wishSchema.safeParse(wrong).success, JSON.stringify(wrong));
  }
  t.end();
});
