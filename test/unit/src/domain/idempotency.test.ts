import t from 'tap';
import { IDEMPOTENCY_KEEP_MS, idempotencyKeySchema } from '../../../../src/domain/idempotency.ts';

t.test('a key is 1 to 255 visible ASCII characters', (t) => {
  const isKey = (text: string) => idempotencyKeySchema.safeParse(text).success;
  for (const text of ['a', '"8e03978e-40d5-43e8-bc93-6894a57f9324"', '!~', 'k'.repeat(255)]) t.ok(isKey(text), text);
  for (const text of ['', 'k'.repeat(256), 'a b', 'a\n', 'ä', '\u007f']) t.notOk(isKey(text), JSON.stringify(text));
  t.equal(IDEMPOTENCY_KEEP_MS, 86_400_000);
  t.end();
});
