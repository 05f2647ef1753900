import t, { type Test } from 'tap';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { createAddressGuard } from '../../../../../src/egress/address-guard.ts';
import { createWebhookClient, type WebhookAnswer, type WebhookPost } from '../../../../../src/egress/webhook-client.ts';
import {
  defaultWebhookTiming,
  WebhookDelivery,
  type WebhookTiming,
} from '../../../../../src/engine/webhooks/webhook-delivery.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import type { Store } from '../../../../../src/store/store.ts';
import { RecordedMetrics } from '../../../../support/recorded-metrics.ts';
import { eventOf, notificationOf, storeFor } from '../../../../support/store.ts';
import { signatureOf, startReceiver } from '../../../../support/webhook-receiver.ts';

/** The service's timing, a hundred times faster. */
const fast: WebhookTiming = {
  ...defaultWebhookTiming,
  atOnce: 8,
  claimMs: 2_000,
  restMs: 5,
  restCapMs: 20,
  retryMs: 10,
  retryCapMs: 40,
  giveUpMs: 0,
  leastTries: 4,
  sweepMs: 50,
  sweepFloorMs: 2,
  closeMs: 1_000,
};

/** A receiver in memory. The given function answers every delivery. */
function stage(
  t: Test,
  store: Store,
  post: (delivery: WebhookPost) => Promise<WebhookAnswer>,
  timing: Partial<WebhookTiming> = {},
) {
  const lines: string[] = [];
  const metrics = new RecordedMetrics();
  const delivery = new WebhookDelivery({
    store,
    client: { post },
    log: createLog('debug', { write: (line) => void lines.push(line) }),
    metrics,
    clock: systemClock,
    random: () => 0,
    timing: { ...fast, ...timing },
  });
  t.teardown(() => delivery.close());
  return { delivery, metrics, lines };
}

const taken = async (): Promise<WebhookAnswer> => ({ kind: 'delivered', status: 200 });

async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  const end = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function put(store: Store, ...events: Parameters<typeof eventOf>[0][]): Promise<void> {
  await store.write(async (writer) => {
    for (const event of events) await writer.insertEvent(eventOf(event));
  });
}

async function withHook(t: Test, ...ids: string[]): Promise<Store> {
  const store = await storeFor(t);
  await store.write(async (writer) => {
    for (const id of ids.length === 0 ? ['hook-1'] : ids) {
      await writer.putNotification(notificationOf({ id, url: `https://hooks.example/${id}` }));
    }
  });
  return store;
}

const none = async (store: Store) => (await store.read.waitingEvents()) === 0;

t.test('what waited before the start is delivered, each subject in order', async (t) => {
  const store = await withHook(t);
  await put(store, ...['a1', 'b1', 'a2', 'a3', 'b2'].map((id) => ({ id, subject: id.charAt(0), body: id })));
  const bodies: string[] = [];
  const { delivery, metrics } = stage(t, store, async ({ body }) => {
    bodies.push(body);
    return taken();
  });
  delivery.start();
  delivery.start();
  await until('all are delivered', () => none(store));
  t.strictSame(
    bodies.filter((body) => body.startsWith('a')),
    ['a1', 'a2', 'a3'],
  );
  t.strictSame(
    bodies.filter((body) => body.startsWith('b')),
    ['b1', 'b2'],
  );
  t.strictSame(metrics.of('webhook_events_ended'), Array(5).fill('delivered'));
});

t.test('a failed one is repeated with the same bytes, and those behind it wait', async (t) => {
  const store = await withHook(t);
  await put(store, { id: 'a1', subject: 'a', body: 'first' }, { id: 'a2', subject: 'a', body: 'second' });
  const bodies: string[] = [];
  const answers: WebhookAnswer[] = [
    { kind: 'rejected', status: 500 },
    { kind: 'timeout', reason: 'no answer' },
  ];
  const { delivery, metrics, lines } = stage(t, store, async ({ body }) => {
    bodies.push(body);
    return answers.shift() ?? taken();
  });
  delivery.start();
  await until('both are delivered', () => none(store));
  t.strictSame(bodies, ['first', 'first', 'first', 'second']);
  t.strictSame(metrics.of('webhook_delivery_duration'), ['rejected', 'timeout', 'delivered', 'delivered']);
  const warnings = lines.filter((line) => line.includes('"level":"warn"'));
  t.equal(warnings.length, 1, 'one line when it begins to fail');
  t.match(lines.join(''), /accepts deliveries again/);
});

t.test(
  'an event that nobody takes is dead after the last try, with its outcome, and those behind it go on',
  async (t) => {
    const store = await withHook(t);
    await put(store, { id: 'a1', subject: 'a', body: 'bad' }, { id: 'a2', subject: 'a', body: 'good' });
    const bodies: string[] = [];
    const { delivery, metrics, lines } = stage(t, store, async ({ body }) => {
      bodies.push(body);
      return body === 'bad' ? { kind: 'blocked', reason: 'hooks.example is refused: a private address' } : taken();
    });
    delivery.start();
    await until('both have ended', () => none(store));
    t.strictSame(bodies, ['bad', 'bad', 'bad', 'bad', 'good']);
    t.strictSame(metrics.of('webhook_events_ended'), ['dead', 'delivered']);
    t.match(lines.join(''), /blocked: hooks.example is refused: a private address.*webhook event is dead/);
  },
);

t.test(
  'it is given up by its age, but not before some tries, which begin anew when it is delivered again',
  async (t) => {
    const store = await withHook(t);
    await put(store, { id: 'old', subject: 'a' }, { id: 'young', subject: 'b' });
    const old: number[] = [];
    let triesOfYoung = 0;
    const later = { ...store, now: async () => (await store.now()) + 1_000_000 };
    const refused = async ({ id }: WebhookPost): Promise<WebhookAnswer> => {
      if (id === 'young') triesOfYoung += 1;
      else old.push(performance.now());
      return { kind: 'rejected', status: 500 };
    };
    const ageing = stage(t, later, refused, { giveUpMs: 900_000, leastTries: 3 });
    ageing.delivery.start();
    await until('both are dead', () => none(store));
    await ageing.delivery.close();
    t.strictSame([old.length, triesOfYoung], [3, 3]);
    t.match(await store.read.delivery('hook-1', 'old'), { state: 'dead', tries: 3, outcome: 'HTTP 500' });

    await store.write((writer) => writer.redeliver('hook-1', 'old'));
    t.match(await store.read.delivery('hook-1', 'old'), { state: 'waiting', tries: 3, endedAt: null });
    const { delivery } = stage(t, store, refused, { giveUpMs: 900_000, leastTries: 1 });
    delivery.start();
    await until('it is tried on', () => old.length > 6);
    t.match(await store.read.delivery('hook-1', 'old'), { state: 'waiting' }, 'its day is not over');
  },
);

t.test('a receiver that hangs holds up nobody else, and never has more than its share under way', async (t) => {
  const store = await withHook(t, 'stuck', 'well');
  await put(store, ...Array.from({ length: 30 }, (_, index) => ({ notificationId: 'stuck', subject: String(index) })));
  let stuck = 0;
  const { promise: hanging, resolve: release } = Promise.withResolvers<void>();
  const { delivery, metrics } = stage(
    t,
    store,
    async ({ url }) => {
      if (url.endsWith('well')) return taken();
      stuck += 1;
      await hanging;
      return taken();
    },
    { atOnce: 4 },
  );
  delivery.start();
  await until('it hangs', () => stuck === 4);
  for (let round = 0; round < 5; round += 1) {
    await put(store, { notificationId: 'well', subject: String(round) });
    delivery.wake();
    await until('the other is served', () => metrics.of('webhook_events_ended').length === round + 1);
  }
  t.equal(stuck, 4);
  release();
  await until('all are delivered', () => none(store));
  t.equal(stuck, 30);
});

t.test('a receiver that fails is asked one at a time, with rests', async (t) => {
  const store = await withHook(t);
  await put(store, ...Array.from({ length: 20 }, (_, index) => ({ subject: String(index) })));
  let down = true;
  let running = 0;
  let most = 0;
  const at: number[] = [];
  const { delivery } = stage(
    t,
    store,
    async () => {
      running += 1;
      at.push(performance.now());
      if (at.length > 8) most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running -= 1;
      return down ? { kind: 'transport', reason: 'connection failed (ECONNREFUSED)' } : taken();
    },
    { leastTries: 1000, restMs: 10, restCapMs: 10 },
  );
  delivery.start();
  await until('it was asked some times', () => at.length >= 14);
  t.equal(most, 1);
  const later = at.slice(8);
  for (const [index, time] of later.slice(1).entries()) t.ok(time - (later[index] ?? 0) >= 9, 'a rest lies between');
  down = false;
  await until('all are delivered', () => none(store));
});

t.test('address and key are those of the moment of delivery', async (t) => {
  const store = await withHook(t);
  await put(store, { id: 'a1' });
  const seen: string[] = [];
  const { delivery } = stage(t, store, async ({ url, signingKeys: [signingKey] }) => {
    seen.push(`${url} ${signingKey?.export().toString() ?? 'unsigned'}`);
    if (seen.length > 1) return taken();
    await store.write(async (writer) => {
      await writer.putNotification(notificationOf({ url: 'https://hooks.example/moved' }));
      await writer.putSigningKey('hook-1', 'new');
    });
    return { kind: 'rejected', status: 503 };
  });
  delivery.start();
  await until('it is delivered', () => none(store));
  t.strictSame(seen, ['https://hooks.example/hook-1 unsigned', 'https://hooks.example/moved new']);
});

t.test('an address of the file may lie inside, one that a client put in its place may not', async (t) => {
  const store = await storeFor(t);
  const url = 'http://10.0.0.1/hook';
  await store.write(async (writer) => {
    await writer.putNotification(notificationOf({ id: 'declared', url, declaration: { url } }));
    await writer.putNotification(
      notificationOf({ id: 'changed', url, declaration: { url: 'https://other.example/' } }),
    );
    await writer.putNotification(notificationOf({ id: 'made', url }));
  });
  await put(store, ...['declared', 'changed', 'made'].map((id) => ({ id, notificationId: id, body: id })));
  const allowed: Record<string, boolean> = {};
  const { delivery } = stage(t, store, async ({ body, isDeclared }) => {
    allowed[body] = isDeclared;
    return taken();
  });
  delivery.start();
  await until('all are delivered', () => none(store));
  t.strictSame(allowed, { declared: true, changed: false, made: false });
});

t.test('an event whose notification is gone ends without a delivery', async (t) => {
  const store = await storeFor(t);
  await put(store, { notificationId: 'gone' }, { notificationId: 'gone', subject: 'b' });
  const { delivery, metrics } = stage(t, store, () => Promise.reject(new Error('must not be called')));
  delivery.start();
  await until('both have ended', () => none(store));
  t.strictSame(metrics.of('webhook_events_ended'), ['dropped', 'dropped']);
  t.strictSame(metrics.of('webhook_delivery_duration'), []);
});

t.test('a fault in between is told, and the event is begun anew', async (t) => {
  const store = await withHook(t);
  await put(store, {});
  let calls = 0;
  const { delivery, lines } = stage(
    t,
    store,
    async () => {
      calls += 1;
      if (calls === 1) throw new Error('a fault of ours');
      return taken();
    },
    { claimMs: 20 },
  );
  delivery.start();
  await until('it is delivered', () => none(store));
  t.equal(calls, 2);
  t.match(lines.join(''), /the outcome of a webhook delivery could not be stored/);
});

t.test('a store that fails does not end the search', async (t) => {
  const store = await withHook(t);
  await put(store, {});
  let faults = 2;
  const faulty: Store = {
    ...store,
    now: () => (faults-- > 0 ? Promise.reject(new Error('the disk is full')) : store.now()),
  };
  const { delivery, lines } = stage(t, faulty, taken, { sweepMs: 5 });
  delivery.start();
  await until('it is delivered', () => none(store));
  t.equal(lines.filter((line) => line.includes('search for webhook events failed')).length, 2);
});

t.test('what is under way may finish at the end, nothing else begins, and what was cut off comes again', async (t) => {
  const store = await withHook(t);
  await put(store, { id: 'a1', body: 'one' }, { id: 'a2', body: 'two' });
  const { promise: answer, resolve } = Promise.withResolvers<WebhookAnswer>();
  let calls = 0;
  const first = stage(t, store, () => {
    calls += 1;
    return answer;
  });
  first.delivery.start();
  await until('it is under way', () => calls === 1);
  const closing = Promise.all([first.delivery.close(), first.delivery.close()]);
  resolve({ kind: 'delivered', status: 200 });
  await closing;
  first.delivery.start();
  first.delivery.wake();
  t.equal(await store.read.waitingEvents(), 1);
  t.equal(calls, 1);

  const hung = stage(t, store, () => new Promise<never>(() => {}), { claimMs: 60_000, closeMs: 10 });
  hung.delivery.start();
  await until('it is under way', async () => (await store.read.nextEventAt(await store.now())) !== null);
  await hung.delivery.close();
  const bodies: string[] = [];
  const second = stage(
    t,
    store,
    async ({ body }) => {
      bodies.push(body);
      return taken();
    },
    { claimMs: 60_000 },
  );
  second.delivery.start();
  await until('it is delivered', () => none(store));
  t.strictSame(bodies, ['two']);
});

t.test('the backlog is counted', async (t) => {
  const store = await withHook(t);
  await put(store, ...Array.from({ length: 3 }, (_, index) => ({ subject: String(index) })));
  const { delivery, metrics } = stage(t, store, async () => ({ kind: 'rejected', status: 500 }), {
    retryMs: 60_000,
    retryCapMs: 60_000,
  });
  delivery.start();
  await until('it was counted', () => metrics.values('webhook_events_waiting').at(-1) === 3);
  t.equal(metrics.values('webhook_events_waiting').at(-1), 3);
});

t.test('over real connections: signed, repeated with the same signature', async (t) => {
  const receiver = await startReceiver();
  t.teardown(() => receiver.stop());
  const store = await storeFor(t);
  await store.write(async (writer) => {
    await writer.putNotification(notificationOf({ url: receiver.url }));
    await writer.putSigningKey('hook-1', 'kéy');
    await writer.insertEvent(eventOf({ body: '{"payload":"ünïcode 🚀"}' }));
  });
  const guard = createAddressGuard({ allowedHosts: [], blockPrivate: false });
  const client = createWebhookClient({ declared: guard, others: guard });
  t.teardown(() => client.close());
  const { delivery } = stage(t, store, (post) => client.post(post));
  let answered = 0;
  receiver.answer = () => ({ status: answered++ === 0 ? 500 : 200 });
  delivery.start();
  await until('it is delivered', () => none(store));
  const [first, second] = receiver.deliveries;
  if (first === undefined || second === undefined) throw new Error('two deliveries were expected');
  t.equal(second.headers['x-signature'], signatureOf(second, 'kéy'));
  t.equal(first.headers['x-signature'], second.headers['x-signature']);
  t.ok(first.bytes.equals(second.bytes));
});
