import { createHash, randomBytes, randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { EventParser } from '../../../../src/client/client.ts';
import { orderedId } from '../../../../src/domain/id.ts';
import { Access, FULL_ACCESS } from '../../../../src/features/api-keys/records/access.ts';
import { CallFeed } from '../../../../src/features/plugins/host/call-feed.ts';
import type { EventPlace, TransactionEvent } from '../../../../src/features/transactions/records/transaction-event.ts';
import {
  createTransactionEvents,
  type TransactionEvents,
} from '../../../../src/features/transactions/transaction-events.ts';
import type { AuthenticatedKey } from '../../../../src/http/access/authenticate.ts';
import { createCursorIds } from '../../../../src/http/cursors.ts';
import { EventSource, OpenStreams, WakeUp } from '../../../../src/http/events/event-source.ts';
import { callsText, eventStream, eventText, type StreamParts } from '../../../../src/http/events/event-stream.ts';
import { readEvents } from '../../../support/event-reader.ts';
import { API_KEY, startHttp } from '../../../support/http-server.ts';
import { storeFor, transactionOf } from '../../../support/store.ts';

type Server = Awaited<ReturnType<typeof startHttp>>;

async function accept({ store, events }: Server, relayerId: string, ...ids: string[]): Promise<void> {
  await store.write(async (writer) => {
    for (const id of ids) await writer.insertTransaction(transactionOf({ id, relayerId }));
  });
  events.notifyAny();
}

function called({ pluginHost }: Server, pluginId: string, requestId: string): void {
  const lines = [{ level: 'info' as const, message: 'line one\nid: 999\n\n' }];
  pluginHost.ended.add({ pluginId, requestId, keyId: 'k', at: 0, outcome: 'returned', durationMs: 1, lines });
}

/** Changes every key that was made. */
function changeKey({ clientKeys, keyChanges }: Server, change: Partial<AuthenticatedKey>): void {
  for (const [hash, key] of clientKeys) clientKeys.set(hash, { ...key, ...change });
  keyChanges.notifyAny();
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

async function setUp(t: Parameters<typeof storeFor>[0], given: Partial<StreamParts> = {}) {
  const store = await storeFor(t);
  const listeners = new Set<() => void>();
  const ids = createCursorIds([Buffer.alloc(32, 1)], randomBytes);
  const keyListeners = new Set<() => void>();
  const onChange = (listener: () => void) => {
    keyListeners.add(listener);
    return () => keyListeners.delete(listener);
  };
  const onNews = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const events = createTransactionEvents(store, { onNews });
  const ended = new CallFeed();
  const source = new EventSource({ events, pluginHost: { ended }, keys: { onChange } }, '00000000');
  const leaving = new AbortController();
  const time = { now: 0 };
  const stream = eventStream({
    source,
    ids,
    from: undefined,
    filter: {},
    access: () => FULL_ACCESS,
    signal: leaving.signal,
    elapsed: () => time.now,
    ...given,
  });
  const accept = async (relayerId: string) => {
    await store.write((writer) => writer.insertTransaction(transactionOf({ relayerId })));
    for (const listener of listeners) listener();
  };
  const tellKeys = () => {
    for (const listener of keyListeners) listener();
  };
  return { stream, leaving, time, accept, listeners, keyListeners, tellKeys, ids, ended };
}

t.test('where nothing is to be told, something is sent now and then', async (t) => {
  const { stream, time, accept, ids } = await setUp(t, { access: () => new Access(['relayers:mine:read']) });
  const positionIn = (text: string | void) => {
    const [, id = ''] = /^(?:retry: 1000\n\n)?id: ([\w-]{80})\n/.exec(text ?? '') ?? [];
    return ids.cursorOf(id)?.transactions.position;
  };
  const opened = (await stream.next()).value;
  t.match(opened, /event: open\n/);
  t.equal(positionIn(opened), 0);
  time.now += 15_000;
  const [quiet, moved] = [/^id: [\w-]{80}\n\n$/, 'what was passed over need not be looked at again'];
  const first = (await stream.next()).value;
  t.match(first, quiet);
  t.equal(positionIn(first), 0);
  await accept('other');
  time.now += 15_000;
  const second = (await stream.next()).value;
  t.match(second, quiet, 'and looks the same to who may not see it');
  t.equal(positionIn(second), 1, moved);
  await accept('mine');
  const third = (await stream.next()).value;
  t.match(third, /\nevent: transaction\n/);
  t.equal(positionIn(third), 2);
  await stream.return();
});

t.test('it ends when its client leaves, and listens no more', async (t) => {
  const { stream, leaving, listeners, keyListeners } = await setUp(t);
  await stream.next();
  const next = stream.next();
  leaving.abort();
  t.equal((await next).done, true);
  t.strictSame([listeners.size, keyListeners.size], [0, 0]);
});

t.test('it ends with its key, and looks when keys change', async (t) => {
  let access: Access | undefined = FULL_ACCESS;
  let looked = 0;
  const look = () => {
    looked += 1;
    return access;
  };
  const { stream, tellKeys, keyListeners } = await setUp(t, { access: look });
  await stream.next();
  const next = stream.next();
  while (looked === 0) await new Promise((resolve) => setImmediate(resolve));
  access = undefined;
  tellKeys();
  t.equal((await next).done, true);
  t.equal(looked, 2, 'with the very next look');
  t.equal(keyListeners.size, 0);
});

t.test('of calls without end the latest are told, and that some were left out each second', async (t) => {
  const { stream, time, ended } = await setUp(t);
  await stream.next();
  let calls = 0;
  const callMany = (count: number) => {
    for (const end = calls + count; calls < end; ) {
      calls += 1;
      const requestId = `q${calls}`;
      ended.add({ pluginId: 'p', requestId, keyId: 'k', at: 0, outcome: 'returned', durationMs: 1, lines: [] });
    }
  };
  const told = async () => {
    const text = (await stream.next()).value ?? '';
    const ids = [...text.matchAll(/"request_id":"(q\d+)"/g)].map(([, id]) => id);
    return { isReset: text.includes('event: reset'), first: ids[0], count: ids.length };
  };
  callMany(500);
  t.strictSame(await told(), { isReset: true, first: 'q301', count: 200 });
  time.now += 50;
  callMany(500);
  t.strictSame(await told(), { isReset: false, first: 'q991', count: 10 }, 'as many as 50 ms bring');
  time.now += 950;
  t.strictSame(await told(), { isReset: true, first: undefined, count: 0 }, 'said later, though nothing came since');
  time.now += 1_000;
  callMany(3);
  t.strictSame(await told(), { isReset: false, first: 'q1001', count: 3 });
  await stream.return();
});

/** The events of one transaction, kept in memory. */
class FakeEvents implements TransactionEvents {
  readonly all: TransactionEvent[] = [];
  looks = 0;
  listeners = 0;

  happen(): void {
    const about = { transactionId: 't', relayerId: 'r', status: 'sent', statusReason: null, hash: null } as const;
    this.all.push({ written: 0, position: this.all.length + 1, at: 0, ...about });
  }

  async latest(): Promise<EventPlace> {
    return this.all.at(-1) ?? { written: 0, position: 0 };
  }

  async isKept({ position }: EventPlace): Promise<boolean> {
    return position <= this.all.length;
  }

  async after({ position }: EventPlace, limit: number): Promise<TransactionEvent[]> {
    this.looks += 1;
    return this.all.slice(position, position + limit);
  }

  onNews(): () => void {
    this.listeners += 1;
    return () => {
      this.listeners -= 1;
    };
  }
}

function sourceOver(events: FakeEvents, id = '00000000'): EventSource {
  const parts = { events, pluginHost: { ended: new CallFeed() }, keys: { onChange: () => () => {} } };
  return new EventSource(parts, id);
}

t.test('those who ask for the same between two beats look once', async (t) => {
  const events = new FakeEvents();
  const source = sourceOver(events);
  const close = [source.open(), source.open()];
  t.equal(events.listeners, 1);
  const from = await source.now();
  events.happen();
  const look = () => source.transactionsAfter(from.transactions);
  const found = await Promise.all([look(), look()]);
  t.match(found, [{ transactions: [{}], isFull: false }, { transactions: [{}] }]);
  t.equal(events.looks, 1);
  await source.next(source.beats);
  await look();
  t.equal(events.looks, 2);
  for (const one of close) one();
  t.equal(events.listeners, 0);
});

t.test('who comes back goes on, as far as that is known', async (t) => {
  const events = new FakeEvents();
  const source = sourceOver(events);
  events.happen();
  const from = await source.now();
  events.happen();
  t.strictSame(await source.resume(from), { cursor: from, isComplete: true });
  const elsewhere = { ...from, calls: { of: '11111111', place: 7 } };
  t.match(await source.resume(elsewhere), { cursor: { transactions: from.transactions }, isComplete: false });
  const unknown = { ...from, transactions: { written: 0, position: 9 } };
  for (const one of [unknown, undefined]) {
    t.match(await source.resume(one), { cursor: { transactions: { position: 2 } }, isComplete: false });
  }
});

t.test('there is more than one look finds', async (t) => {
  const events = new FakeEvents();
  for (let count = 0; count < 201; count += 1) events.happen();
  const source = sourceOver(events);
  const found = await source.transactionsAfter({ written: 0, position: 0 });
  t.match([found.isFull, found.transactions.length], [true, 200]);
  const rest = await source.transactionsAfter({ written: 0, position: 200 });
  t.match(rest, { isFull: false, transactions: [{ position: 201 }] });
});

t.test('a cursor of another start is not taken for one of this start, however soon after it', async (t) => {
  const events = new FakeEvents();
  const [before, after] = [1, 2].map(() => sourceOver(events, orderedId(randomUUID(), 1_795_774_103_038)));
  const cursor = await before?.now();
  if (cursor === undefined) throw new Error('no cursor');
  t.match(await before?.resume(cursor), { isComplete: true });
  t.match(await after?.resume(cursor), { isComplete: false });
});

t.test('all who wait hear the same beat, soon after something happened', async (t) => {
  const wakeUp = new WakeUp();
  const { beats } = wakeUp;
  const waiting = [wakeUp.next(beats), wakeUp.next(beats)];
  wakeUp.notify();
  wakeUp.notify();
  await Promise.all(waiting);
  t.equal(wakeUp.beats, beats + 1, 'what comes together is one beat');
});

t.test('what happens while nobody waits is not missed', async (t) => {
  const wakeUp = new WakeUp();
  const { beats } = wakeUp;
  wakeUp.notify();
  t.equal(wakeUp.beats, beats + 1);
  const before = performance.now();
  await wakeUp.next(beats);
  t.ok(performance.now() - before < 900, 'not only at the next look of its own');
});

t.test('it beats now and then by itself', async (t) => {
  const wakeUp = new WakeUp();
  await wakeUp.next(wakeUp.beats);
  t.equal(wakeUp.beats, 1);
});

t.test('no text in an event begins another one', (t) => {
  const data = { text: 'a\n\nid: 9\r\nevent: open\u2028\n\n' };
  const text = eventText('transaction', data, '1');
  t.strictSame(new EventParser().push(text), [{ id: '1', event: 'transaction', data: JSON.stringify(data) }]);
  t.equal(eventText('reset', {}), 'event: reset\ndata: {}\n\n');
  t.end();
});

t.test('of the events of calls the last has the id', (t) => {
  const call = { pluginId: 'p', requestId: 'q', keyId: 'k', at: 0, outcome: 'threw', durationMs: 3, lines: [] };
  const events = new EventParser().push(callsText([call, { ...call, requestId: 'r' }], '7'));
  t.match(events, [
    { id: '', data: /"request_id":"q"/ },
    { id: '7', data: /"request_id":"r"/ },
  ]);
  t.equal(callsText([], '7'), '');
  t.end();
});

t.test('each key has its share, and all together have theirs', (t) => {
  const streams = new OpenStreams();
  const first = Array.from({ length: 50 }, () => streams.open('a'));
  t.throws(() => streams.open('a'), { code: 'TOO_MANY_REQUESTS' });
  first[0]?.();
  first[0]?.();
  streams.open('a');
  t.throws(() => streams.open('a'), { code: 'TOO_MANY_REQUESTS' }, 'one that ends twice counts once');
  for (let key = 0; key < 9; key += 1) for (let count = 0; count < 50; count += 1) streams.open(`key-${key}`);
  t.throws(() => streams.open('another'), { code: 'TOO_MANY_REQUESTS' });
  t.end();
});
