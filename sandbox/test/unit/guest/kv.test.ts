import t from 'tap';
import { fc, runsOf } from '../../../../test/support/properties.ts';
import { meterThread } from '../../../../test/support/thread-time.ts';
import { FIXED_LIMITS, type Json } from '../../../contract.ts';
import { CallEnd } from '../../../guest/call-end.ts';
import { CapabilityCalls } from '../../../guest/capability-calls.ts';
import { HostLink } from '../../../guest/host-link.ts';
import { createKv, literalLength, matchesPattern } from '../../../guest/kv.ts';
import { GuestHost } from '../../support/guest-host.ts';

function open() {
  const host = new GuestHost();
  const link = new HostLink(host.call);
  const end = new CallEnd(link);
  const calls = new CapabilityCalls(link, end);
  end.begin(100);
  calls.begin(100);
  /** Answers the latest request, once it is there. */
  const answer = async (value: Json) => {
    await new Promise(setImmediate);
    const request = host.requests.at(-1);
    calls.settle(request?.id ?? 0, { ok: true, value });
    return [request?.method, request?.params];
  };
  const refuse = async (message: string) => {
    await new Promise(setImmediate);
    calls.settle(host.requests.at(-1)?.id ?? 0, { ok: false, error: { message } });
  };
  return { host, calls, answer, refuse, kv: createKv(calls.ofRunning()) };
}

t.test('each method is one capability, also when taken off its object', async (t) => {
  const { host, kv } = open();
  const { get, set, del, exists, clear } = kv;
  void get('a:b-c_D9');
  void set('k', { a: [1] }, { ttlSec: 0.5 });
  void del('k');
  void exists('k');
  void clear();
  t.strictSame(
    host.requests.map(({ method, params }) => [method, params]),
    [
      ['kv.get', { key: 'a:b-c_D9' }],
      ['kv.set', { key: 'k', ttlSec: 0.5, value: '{"a":[1]}' }],
      ['kv.del', { key: 'k' }],
      ['kv.exists', { key: 'k' }],
      ['kv.clear', {}],
    ],
  );
  t.strictSame(
    Object.keys(kv),
    ['get', 'set', 'del', 'exists', 'listKeys', 'clear', 'withLock'],
    'nothing is offered that does not work',
  );
});

t.test('a value comes as text and is read here', async (t) => {
  const { kv, answer } = open();
  const got = kv.get('k');
  await answer('{"stored":[true]}');
  t.strictSame(await got, { stored: [true] });
  const missing = kv.get('k');
  await answer(null);
  t.equal(await missing, null);
  const damaged = kv.get('k');
  await answer('{"stored"');
  await t.rejects(damaged, SyntaxError);
});

t.test('refuses keys and values that cannot be stored', async (t) => {
  const { host, kv } = open();
  for (const key of ['', 'a.b', 'a/b', 'a b', 'é', 'x'.repeat(513), 'a\n', undefined, 5] as string[]) {
    for (const call of [
      () => kv.get(key),
      () => kv.set(key, 1),
      () => kv.del(key),
      () => kv.exists(key),
      () => kv.withLock(key, async () => 1),
    ]) {
      await t.rejects(call(), new Error('invalid key'));
    }
  }
  await t.rejects(kv.set('k', undefined), new Error('value must not be undefined'));
  await t.rejects(kv.set('k', { a: 1n }), new TypeError('value.a is a BigInt'));
  await t.rejects(
    kv.set('k', () => 1),
    new TypeError('value is a function'),
  );
  await t.rejects(kv.set('k', 'x'.repeat(2_000_000)), {
    name: 'TypeError',
    message: /^value is at least 2000002 bytes of JSON.*1048576/,
  });
  t.strictSame(host.requests, []);
  void kv.set('x'.repeat(512), null);
  t.match(host.requests[0]?.params, { value: 'null' });
});

t.test('a lifetime that is not a positive number is none', (t) => {
  const { host, kv } = open();
  const lifetimes = [undefined, 0, -1, Number.NaN, Number.POSITIVE_INFINITY, null, {}, '30', 1.5];
  for (const ttlSec of lifetimes) void kv.set('k', 1, { ttlSec: ttlSec as number });
  t.strictSame(
    host.requests.map(({ params }) => (params as { ttlSec?: number }).ttlSec),
    [undefined, undefined, undefined, undefined, undefined, undefined, undefined, 30, 1.5],
  );
  t.end();
});

t.test('keys are asked for by what their pattern begins with, and sorted out here', async (t) => {
  const { kv, host, answer } = open();
  const all = kv.listKeys();
  t.strictSame(await answer(['a', 'b']), ['kv.listKeys', { prefix: '' }]);
  t.strictSame(await all, ['a', 'b']);
  const some = kv.listKeys('job:*:done', 1);
  t.strictSame(await answer(['job:1:done', 'job:1:open', 'job:2:done']), ['kv.listKeys', { prefix: 'job:' }]);
  t.strictSame(await some, ['job:1:done', 'job:2:done']);

  const page = Array.from({ length: FIXED_LIMITS.kv_page }, (_, index) => `k${index}`);
  const long = kv.listKeys('k*');
  await answer(page);
  t.strictSame(await answer(['k9999']), ['kv.listKeys', { prefix: 'k', after: `k${FIXED_LIMITS.kv_page - 1}` }]);
  t.strictSame(await long, [...page, 'k9999']);

  const asked = host.requests.length;
  t.strictSame(await kv.listKeys('no key/*'), [], 'what no key begins with is not asked for');
  await t.rejects(kv.listKeys('*'.repeat(1025)), new Error('invalid pattern'));
  await t.rejects(kv.listKeys(5 as unknown as string), new Error('invalid pattern'));
  t.equal(host.requests.length, asked);
});

t.test('a lock is held while the function runs, and given back whatever it comes to', async (t) => {
  const { kv, answer } = open();
  const order: string[] = [];
  const fn = async () => {
    order.push('ran');
    return 7;
  };
  const locked = kv.withLock('key', fn);
  t.strictSame(await answer(3), ['kv.lock', { key: 'key', ttlSec: 30 }]);
  t.strictSame(await answer(true), ['kv.unlock', { key: 'key', fence: 3 }]);
  t.equal(await locked, 7);
  t.strictSame(order, ['ran']);

  for (const failing of [
    () => Promise.reject(new Error('mine')),
    () => {
      throw new Error('mine');
    },
  ]) {
    const failed = kv.withLock('key', failing, { ttlSec: '0.5' as unknown as number, onBusy: 'skip' });
    t.strictSame(await answer(4), ['kv.lock', { key: 'key', ttlSec: 0.5 }]);
    t.strictSame(await answer(true), ['kv.unlock', { key: 'key', fence: 4 }]);
    await t.rejects(failed, new Error('mine'));
  }
});

t.test('a lock that is busy is not waited for', async (t) => {
  const { kv, answer, refuse } = open();
  const fn = () => t.fail('it must not run') as unknown as Promise<number>;
  for (const onBusy of ['throw', undefined, 'wait'] as ('throw' | undefined)[]) {
    const busy = kv.withLock('key', fn, onBusy === undefined ? {} : { onBusy });
    await answer(null);
    await t.rejects(busy, new Error('lock busy'));
  }
  const skipped = kv.withLock('key', fn, { onBusy: 'skip' });
  await answer(null);
  t.equal(await skipped, null);
  const refused = kv.withLock('key', fn, { onBusy: 'skip' });
  await refuse('Key-value store error: gone');
  await t.rejects(refused, new Error('Key-value store error: gone'));
});

t.test('what the function came to stands when the lock cannot be given back', async (t) => {
  const { kv, answer, refuse } = open();
  const locked = kv.withLock('key', async () => 'done');
  await answer(3);
  await refuse('Key-value store error: gone');
  t.equal(await locked, 'done');
});

t.test('a lock needs a time and a function', async (t) => {
  const { kv, host } = open();
  const refused = new Error('ttlSec of a lock must be a positive number of seconds');
  for (const ttlSec of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, null, {}, 'soon'] as number[]) {
    await t.rejects(
      kv.withLock('key', async () => 1, { ttlSec }),
      refused,
    );
  }
  await t.rejects(kv.withLock('key', undefined as unknown as () => Promise<1>), TypeError);
  t.strictSame(host.requests, []);
});

t.test('patterns mean what they mean in Redis', (t) => {
  const cases: [pattern: string, matching: string[], others: string[]][] = [
    ['*', ['', 'a', 'a:b'], []],
    ['', [''], ['a']],
    ['a', ['a'], ['', 'b', 'aa']],
    ['a*', ['a', 'ab', 'a:b'], ['', 'ba']],
    ['*a', ['a', 'ba', 'aa'], ['ab']],
    ['a*b*c', ['abc', 'aXbYc', 'abbcc'], ['ab', 'acb']],
    ['**a**', ['a', 'bab'], ['b']],
    ['?', ['a'], ['', 'ab']],
    ['a?c', ['abc'], ['ac', 'abbc']],
    ['[abc]x', ['ax', 'cx'], ['dx', 'x']],
    ['[a-c]', ['a', 'b', 'c'], ['d']],
    ['[c-a]', ['a', 'b', 'c'], ['d']],
    ['[^a-c]', ['d', 'Z'], ['a', '']],
    ['[^a]*', ['b', 'ba'], ['a', 'ab', '']],
    ['[a\\-c]', ['a', '-', 'c'], ['b']],
    ['[\\]]', [']'], ['\\']],
    ['[]', [], ['', 'a']],
    ['[^]', ['a'], ['']],
    ['[ab', ['a', 'b'], ['c', 'ab']],
    ['a[', [], ['a', 'a[']],
    ['\\*', ['*'], ['a', '']],
    ['\\a', ['a'], ['\\a']],
    ['a\\', ['a\\'], ['a']],
    ['*[0-9]', ['a1', '1'], ['1a']],
  ];
  for (const [pattern, matching, others] of cases) {
    for (const key of matching) t.ok(matchesPattern(key, pattern), `${pattern} matches ${key}`);
    for (const key of others) t.notOk(matchesPattern(key, pattern), `${pattern} does not match ${key}`);
  }
  t.end();
});

t.test('stars and question marks agree with a regular expression', (t) => {
  const few = (letters: string) => fc.string({ unit: fc.constantFrom(...letters), maxLength: 8 });
  const found = fc.check(
    fc.property(few('ab:'), few('ab:*?'), (key, pattern) => {
      const oracle = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`);
      return matchesPattern(key, pattern) === oracle.test(key);
    }),
    { numRuns: runsOf(2000) },
  );
  t.equal(found.counterexample, null);
  t.end();
});

t.test('no pattern takes more steps than key times pattern', (t) => {
  const key = 'a'.repeat(512);
  const bombs = [`${'*a'.repeat(511)}b`, `*${'a'.repeat(500)}b`, `${'[a-'.repeat(340)}b`, '*?'.repeat(512)];
  const spent = meterThread();
  for (const bomb of bombs) t.equal(matchesPattern(key, bomb), bomb.startsWith('*?'), bomb.slice(0, 8));
  t.ok(spent() < 1000, `${spent()} ms`);
  t.end();
});

t.test('a pattern’s literal beginning ends at its first special character', (t) => {
  t.equal(literalLength('abc'), 3);
  for (const special of ['*', '?', '[', '\\']) t.equal(literalLength(`ab${special}c`), 2);
  t.equal(literalLength(''), 0);
  t.end();
});
