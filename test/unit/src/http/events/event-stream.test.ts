import { randomBytes } from 'node:crypto';
import t from 'tap';
import { Access, FULL_ACCESS } from '../../../../../src/domain/settings/access.ts';
import { createCursorIds } from '../../../../../src/http/events/cursor.ts';
import { EventSource } from '../../../../../src/http/events/event-source.ts';
import { eventStream, type StreamParts } from '../../../../../src/http/events/event-stream.ts';
import { CallFeed } from '../../../../../src/plugin-host/call-feed.ts';
import { createTransactionEvents } from '../../../../../src/services/events/transaction-events.ts';
import { storeFor, transactionOf } from '../../../../support/store.ts';

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
