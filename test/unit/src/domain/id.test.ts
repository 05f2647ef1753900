import { randomUUID } from 'node:crypto';
import t from 'tap';
import { systemClock } from '../../../../src/domain/clock.ts';
import { idSchema, orderedId, pluginIdSchema } from '../../../../src/domain/id.ts';
import { IDEMPOTENCY_KEEP_MS, idempotencyKeySchema } from '../../../../src/domain/idempotency.ts';
import { wireTime } from '../../../../src/domain/wire-time.ts';
import { withTimeout } from '../../../../src/domain/with-timeout.ts';

t.test('ids have 1 to 36 letters, digits, dashes and underscores', (t) => {
  for (const good of ['a', 'sepolia-1', 'A_b-9', 'x'.repeat(36)]) t.ok(idSchema.safeParse(good).success, good);
  for (const bad of ['', 'x'.repeat(37), 'a b', 'a/b', 'ä', '../x', 'a\n', 1, null]) {
    t.notOk(idSchema.safeParse(bad).success, JSON.stringify(bad));
  }
  t.end();
});

t.test('plugin ids may have dots inside and never look like a path or a hidden file', (t) => {
  for (const good of ['hello', 'my.plugin', 'a@1', '9lives']) t.ok(pluginIdSchema.safeParse(good).success, good);
  for (const bad of ['', '.hidden', '_private', '../x', 'a/b', 'a b', `${'x'.repeat(129)}`]) {
    t.notOk(pluginIdSchema.safeParse(bad).success, bad);
  }
  t.end();
});

t.test('ordered id', async (t) => {
  const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

  t.test('ids of one moment differ, and those of a later moment come later', async (t) => {
    const moments = [0, 1, 255, 256, 1_795_774_103_038, 1_795_774_103_038.9, 1_795_774_103_040, 2 ** 48 - 1];
    const ids = moments.map((now) => orderedId(randomUUID(), now));
    for (const id of ids) t.match(id, UUID_V4);
    t.equal(new Set(ids).size, moments.length);
    const prefixes = ids.map((id) => id.slice(0, 13));
    t.strictSame(prefixes.toSorted(), prefixes);
    t.equal(prefixes[4], prefixes[5]);
  });
});

t.test('a key is 1 to 255 visible ASCII characters', (t) => {
  const isKey = (text: string) => idempotencyKeySchema.safeParse(text).success;
  for (const text of ['a', '"8e03978e-40d5-43e8-bc93-6894a57f9324"', '!~', 'k'.repeat(255)]) t.ok(isKey(text), text);
  for (const text of ['', 'k'.repeat(256), 'a b', 'a\n', 'ä', '\u007f']) t.notOk(isKey(text), JSON.stringify(text));
  t.equal(IDEMPOTENCY_KEEP_MS, 86_400_000);
  t.end();
});

t.test('now is the wall clock, elapsed never goes back', (t) => {
  t.ok(Math.abs(systemClock.now() - Date.now()) < 1000);
  const first = systemClock.elapsed();
  t.ok(systemClock.elapsed() >= first);
  t.end();
});

t.test('what comes in time counts, also when it fails; what is late counts no more', async (t) => {
  t.equal(await withTimeout(60_000, Promise.resolve(7)), 7);
  await t.rejects(withTimeout(60_000, Promise.reject(new Error('no'))), { message: 'no' });
  const { promise, reject } = Promise.withResolvers<number>();
  t.equal(await withTimeout(1, promise), undefined);
  reject(new Error('a failure that nobody waits for ends no process'));
  await new Promise((resolve) => setImmediate(resolve));
});

t.test('a moment is written with a numeric offset, as the clients of the reference parse it', async (t) => {
  t.equal(wireTime(0), '1970-01-01T00:00:00.000+00:00');
  t.equal(wireTime(1_700_000_000_123), '2023-11-14T22:13:20.123+00:00');
});
