import t, { type Test } from 'tap';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { type FetchAnswer, FetchFailure, type FetchRequest } from '../../../../../src/egress/fetch/plugin-fetch.ts';
import type { FetchTerms, PluginHttp } from '../../../../../src/egress/fetch/plugin-http.ts';
import { createFetchService } from '../../../../../src/features/plugins/fetch.ts';
import { hostGrantsOf } from '../../../../../src/features/plugins/host/capabilities/grants.ts';
import type { Store } from '../../../../../src/store/store.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';
import { storeFor } from '../../../../support/store.ts';

const REQUEST: FetchRequest = {
  url: new URL('http://a.test/'),
  method: 'POST',
  headers: [],
  body: undefined,
  redirect: 'follow',
};

/** An HTTP client for plugins whose answer, and its time, the test sets. */
class FakeHttp implements PluginHttp {
  readonly asked: FetchTerms[] = [];
  answer: () => Promise<Partial<FetchAnswer>> = () => Promise.resolve({});

  async fetch(request: FetchRequest, terms: FetchTerms): Promise<FetchAnswer> {
    this.asked.push(terms);
    const given = await this.answer();
    const body = given.body ?? Buffer.from('hi');
    if (!terms.hold(body.length)) throw new FetchFailure('too-large', 'no room');
    const { href } = request.url;
    return { url: href, redirected: false, status: 200, statusText: 'OK', headers: [['x', 'y']], ...given, body };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

async function setUp(t: Test) {
  const store = await storeFor(t, systemClock);
  const http = new FakeHttp();
  const call = () => {
    const aborter = new AbortController();
    return { by: { pluginId: 'p', grants: hostGrantsOf('p', []), signal: aborter.signal }, end: () => aborter.abort() };
  };
  return { store, http, service: createFetchService({ store, http }), call };
}

t.test('a short body comes with the answer: as text where it is text', async (t) => {
  const { http, service, call } = await setUp(t);
  const { by } = call();
  t.strictSame(await service.fetch(by, 1, REQUEST), {
    url: 'http://a.test/',
    redirected: false,
    status: 200,
    statusText: 'OK',
    headers: [['x', 'y']],
    body: { text: 'hi' },
    more: false,
  });
  for (const body of [Buffer.from([0xff, 0xfe]), Buffer.from('a\0b')]) {
    http.answer = () => Promise.resolve({ body });
    t.strictSame((await service.fetch(by, 1, REQUEST))['body'], { base64: body.toString('base64') });
  }
  await t.rejects(service.read(by, 1), { code: 'FETCH_FAILED', message: /nothing left/ });
});

t.test('a long body comes piece by piece, once, to its own call', async (t) => {
  const { http, service, call } = await setUp(t);
  const body = Buffer.alloc(1_000_000, 'abc');
  http.answer = () => Promise.resolve({ body });
  const { by, end } = call();
  const pieces = [await service.fetch(by, 1, REQUEST)];
  t.equal(pieces[0]?.['more'], true);
  await t.rejects(service.fetch(by, 1, REQUEST), { code: 'INVALID_REQUEST' }, 'the name is taken');
  await t.rejects(service.read(call().by, 1), { code: 'FETCH_FAILED' }, 'another call has nothing of it');
  while (pieces.at(-1)?.['more'] === true) pieces.push(await service.read(by, 1));
  const bytes = pieces.map((piece) => Buffer.from((piece['body'] as { base64: string }).base64, 'base64'));
  t.ok(bytes.every(({ length }) => length <= 400_000));
  t.ok(Buffer.concat(bytes).equals(body));
  t.equal(service.abort(by, 1), false, 'what is read has no more to give up');

  await service.fetch(by, 2, REQUEST);
  end();
  await t.rejects(service.read(by, 2), { code: 'FETCH_FAILED' }, 'the end of a call gives up what it has not read');
});

t.test('what answers take is bounded for each plugin, and given back', async (t) => {
  const { http, service, call } = await setUp(t);
  const body = Buffer.alloc(16 * 1_048_576);
  http.answer = () => Promise.resolve({ body });
  const { by, end } = call();
  for (const key of [1, 2, 3, 4]) await service.fetch(by, key, REQUEST);
  await t.rejects(service.fetch(by, 5, REQUEST), { code: 'FETCH_FAILED' });
  t.equal(
    (await service.fetch({ ...call().by, pluginId: 'q' }, 1, REQUEST))['more'],
    true,
    'another plugin has its own',
  );
  t.equal(service.abort(by, 1), true);
  t.equal((await service.fetch(by, 5, REQUEST))['more'], true);
  end();
  const later = call();
  for (const key of [1, 2, 3, 4]) await service.fetch(later.by, key, REQUEST);
  later.end();
});

t.test('a call has so many exchanges at once, and ends those that wait when it ends', async (t) => {
  const { http, service, call } = await setUp(t);
  const { by, end } = call();
  http.answer = () => new Promise(() => undefined);
  const waiting = Array.from({ length: 20 }, (_, index) => service.fetch(by, index + 1, REQUEST));
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(http.asked.length, 16);
  t.equal(service.abort(by, 20), true);
  await t.rejects(Promise.all(waiting.slice(19)), {
    code: 'FETCH_FAILED',
    message: 'fetch failed: the request was aborted',
  });
  end();
  const left = await Promise.allSettled(waiting.slice(16));
  t.ok(left.every(({ status }) => status === 'rejected'));
  t.ok(http.asked.every(({ signal }) => signal.aborted));
});

t.test('a refusal is the plugin’s to read, any other failure says that it is one', async (t) => {
  const { http, service, call } = await setUp(t);
  http.answer = () => Promise.reject(new FetchFailure('refused', 'add the line', { unsent: true }));
  await t.rejects(service.fetch(call().by, 1, REQUEST), { code: 'FETCH_FAILED', message: 'add the line' });
  http.answer = () => Promise.reject(new FetchFailure('transport', 'the connection broke'));
  await t.rejects(service.fetch(call().by, 1, REQUEST), { message: 'fetch failed: the connection broke' });
  http.answer = () => Promise.reject(new RangeError('ours'));
  await t.rejects(service.fetch(call().by, 1, REQUEST), RangeError);
});

t.test('under a key it is sent once, and a repeat gets the first answer', async (t) => {
  const { store, http, service, call } = await setUp(t);
  const effect = await keyedEffect(store);
  http.answer = () => Promise.resolve({ status: 201, body: Buffer.from([1, 2, 255]) });
  const first = await service.fetch(call().by, 1, REQUEST, effect);
  http.answer = () => Promise.resolve({ status: 500 });
  t.strictSame(await service.fetch(call().by, 1, REQUEST, effect), first);
  t.equal(http.asked.length, 1);
});

t.test('under a key, what may have been sent is not sent again', async (t) => {
  const { store, http, service, call } = await setUp(t);
  const lost = await keyedEffect(store);
  http.answer = () => Promise.reject(new FetchFailure('timeout', 'late'));
  await t.rejects(service.fetch(call().by, 1, REQUEST, lost), { message: 'fetch failed: late' });
  await t.rejects(service.fetch(call().by, 1, REQUEST, lost), { code: 'EFFECT_UNKNOWN' });
  const large = await keyedEffect(store);
  http.answer = () => Promise.resolve({ body: Buffer.alloc(300_000) });
  await service.fetch(call().by, 1, REQUEST, large);
  await t.rejects(service.fetch(call().by, 1, REQUEST, large), { code: 'EFFECT_UNKNOWN' }, 'too long to be kept');
  t.equal(http.asked.length, 2);
});

t.test('under a key, what its call ended before it was sent is sent by a further run', async (t) => {
  const { store, http, service, call } = await setUp(t);
  const [waiting, connecting, sent] = [await keyedEffect(store), await keyedEffect(store), await keyedEffect(store)];
  const [first, second] = [call(), call()];
  const endsWith =
    ({ end }: typeof first, unsent: boolean) =>
    async () => {
      end();
      throw new FetchFailure('aborted', 'the request was aborted', { unsent });
    };
  http.answer = endsWith(first, true);
  await t.rejects(service.fetch(first.by, 1, REQUEST, connecting), { code: 'FETCH_FAILED' });
  await t.rejects(service.fetch(first.by, 2, REQUEST, waiting), { code: 'FETCH_FAILED' });
  http.answer = endsWith(second, false);
  await t.rejects(service.fetch(second.by, 1, REQUEST, sent), { code: 'FETCH_FAILED' });
  t.equal(http.asked.length, 2);

  http.answer = () => Promise.resolve({});
  for (const effect of [waiting, connecting]) {
    t.match(await service.fetch(call().by, 1, REQUEST, effect), { status: 200 });
  }
  await t.rejects(service.fetch(call().by, 1, REQUEST, sent), { code: 'EFFECT_UNKNOWN' });
});

t.test('under a key, a plugin that gives up an answer while it is stored hears of no failure', async (t) => {
  const { store, http, call } = await setUp(t);
  const effect = await keyedEffect(store);
  const { by } = call();
  const write: Store['write'] = async (body) => {
    const result = await store.write(body);
    if (http.asked.length > 0) service.abort(by, 1);
    return result;
  };
  const service = createFetchService({ store: { ...store, write }, http });
  t.match(await service.fetch(by, 1, REQUEST, effect), { status: 200, body: { text: '' } });
  t.match(await service.fetch(call().by, 1, REQUEST, effect), { body: { text: 'hi' } });
});
