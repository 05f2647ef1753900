import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { Access } from '../../../../../src/domain/settings/access.ts';
import type { ClientKey } from '../../../../../src/http/access/auth.ts';
import { readEvents } from '../../../../support/event-reader.ts';
import { API_KEY, startHttp } from '../../../../support/http-server.ts';
import { transactionOf } from '../../../../support/store.ts';

type Server = Awaited<ReturnType<typeof startHttp>>;

async function accept({ store, events }: Server, relayerId: string, ...ids: string[]): Promise<void> {
  await store.write(async (writer) => {
    for (const id of ids) await writer.insertTransaction(transactionOf({ id, relayerId }));
  });
  events.stir();
}

function called({ pluginHost }: Server, pluginId: string, requestId: string): void {
  const lines = [{ level: 'info' as const, message: 'line one\nid: 999\n\n' }];
  pluginHost.ended.add({ pluginId, requestId, keyId: 'k', at: 0, outcome: 'returned', durationMs: 1, lines });
}

/** Changes every key that was made. */
function changeKey({ clientKeys, keyChanges }: Server, change: Partial<ClientKey>): void {
  for (const [hash, key] of clientKeys) clientKeys.set(hash, { ...key, ...change });
  keyChanges.stir();
}

function keyOf({ clientKeys }: Server, ...permissions: string[]): string {
  const key = `key-${permissions.join()}`;
  const hash = createHash('sha256').update(key).digest('hex');
  const access = new Access(permissions);
  clientKeys.set(hash, { id: key, access, rate: null, allowedOrigins: ['*'], expiresAt: null });
  return key;
}

const open = (t: Test, { url }: Server, options: Partial<Parameters<typeof readEvents>[2]> = {}) =>
  readEvents(t, url, { key: API_KEY, ...options });

t.test('what happens comes as it happens, with an id to go on from', async (t) => {
  const server = await startHttp(t);
  await accept(server, 'r1', 'before');
  const reader = await open(t, server);
  t.match(Object.fromEntries(reader.response.headers), {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  t.match(await reader.next(), { event: 'open', id: /^[\w-]{80}$/ });
  await accept(server, 'r1', 'a', 'b');
  t.match(await reader.take('transaction', 2), [
    { data: { id: 'a', relayer_id: 'r1', status: 'pending', status_reason: null, hash: null, at: /\+00:00$/ } },
    { data: { id: 'b' } },
  ]);
  called(server, 'echo', 'q1');
  const [call] = await reader.take('plugin_call', 1);
  t.match(call, { data: { plugin_id: 'echo', request_id: 'q1', logs: [{ message: 'line one\nid: 999\n\n' }] } });

  const { id = '' } = call ?? {};
  reader.leave();
  await accept(server, 'r1', 'c');
  called(server, 'echo', 'q2');
  const again = await open(t, server, { lastId: id });
  t.match(await again.next(), { event: 'open' });
  const rest = [await again.next(), await again.next()];
  t.strictSame(rest.map((one) => String(one?.data['id'] ?? one?.data['request_id'])).toSorted(), ['c', 'q2']);
});

t.test('many are told in pieces, each once, wherever the reader leaves off', async (t) => {
  const server = await startHttp(t);
  const first = await open(t, server);
  const { id: start = '' } = (await first.next()) ?? {};
  first.leave();
  const ids = Array.from({ length: 450 }, (_, index) => `t${index}`);
  await accept(server, 'r1', ...ids);
  const seen: unknown[] = [];
  for (let lastId = start; seen.length < ids.length; ) {
    const reader = await open(t, server, { lastId });
    const some = await reader.take('transaction', Math.min(130, ids.length - seen.length));
    reader.leave();
    seen.push(...some.map(({ data }) => data['id']));
    lastId = some.at(-1)?.id ?? '';
  }
  t.strictSame(seen, ids);
});

t.test('what is not known any more is said', async (t) => {
  const server = await startHttp(t);
  for (const lastId of ['1-999-00000000-0', 'not an id', '0-0-00000000-5']) {
    t.match(await (await open(t, server, { lastId })).next(), { event: 'reset' }, lastId);
  }
  const reader = await open(t, server);
  await reader.next();
  for (let count = 0; count < 1_500; count += 1) called(server, 'echo', String(count));
  t.match(await reader.next(), { event: 'reset' });
  t.match(await reader.next(), { event: 'plugin_call', data: { request_id: '1300' } }, 'of many the latest 200');
});

t.test('a key is told what it may see, and no more of what it may not', async (t) => {
  const server = await startHttp(t);
  const narrow = await open(t, server, {
    key: keyOf(server, 'relayers:r2:read', 'plugins:mine:write', 'plugins:echo:call'),
  });
  await narrow.next();
  await accept(server, 'r1', 'a');
  called(server, 'echo', 'q1');
  called(server, 'mine', 'q2');
  await accept(server, 'r2', 'b');
  const events = [await narrow.next(), await narrow.next()];
  t.strictSame(events.map((one) => String(one?.data['id'] ?? one?.data['request_id'])).toSorted(), ['b', 'q2']);

  const ofRelayer = await open(t, server, { query: '?relayer_id=r2' });
  const ofPlugin = await open(t, server, { query: '?plugin_id=mine' });
  for (const reader of [ofRelayer, ofPlugin]) await reader.next();
  called(server, 'echo', 'q3');
  called(server, 'mine', 'q4');
  await accept(server, 'r1', 'c');
  await accept(server, 'r2', 'd');
  t.match(await ofRelayer.next(), { data: { id: 'd' } });
  t.match(await ofPlugin.next(), { data: { request_id: 'q4' } });
});

t.test('a stream ends with its key, and with the service', async (t) => {
  const server = await startHttp(t);
  const key = keyOf(server, 'relayers:*:read');
  const ofKey = await open(t, server, { key });
  await ofKey.next();
  const staying = await open(t, server);
  await staying.next();
  server.clientKeys.clear();
  t.equal(await ofKey.next(), undefined);
  const closing = server.server.close(60_000);
  t.equal(await staying.next(), undefined);
  await closing;
});

t.test(
  'a stream ends when its key has ended, or takes its origin no more; one with less goes on with that',
  async (t) => {
    for (const change of [{ expiresAt: Date.now() - 1 }, { allowedOrigins: ['https://other.example'] }]) {
      const server = await startHttp(t);
      const origin = 'https://page.example';
      const reader = await open(t, server, { key: keyOf(server, 'relayers:*:read'), origin });
      await reader.next();
      changeKey(server, change);
      t.equal(await reader.next(), undefined, JSON.stringify(change));
    }
    const server = await startHttp(t);
    const reader = await open(t, server, { key: keyOf(server, 'relayers:*:read') });
    await reader.next();
    changeKey(server, { access: new Access(['relayers:r2:read']) });
    await accept(server, 'r1', 'a');
    await accept(server, 'r2', 'b');
    t.match(await reader.next(), { data: { id: 'b' } });
  },
);

t.test('a key has so many streams, and another one has its own', async (t) => {
  const server = await startHttp(t);
  const key = keyOf(server, 'relayers:*:read');
  const readers = await Promise.all(Array.from({ length: 50 }, () => open(t, server, { key })));
  const refused = await open(t, server, { key });
  t.match([refused.response.status, refused.response.headers.get('retry-after')], [429, '5']);
  t.equal((await open(t, server)).response.status, 200);
  readers[0]?.leave();
  while ((await open(t, server, { key })).response.status !== 200);
});
