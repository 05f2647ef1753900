/**
 * Threat: an accepted call dies with its process or its service, and is lost, pays twice, or is answered otherwise than
 * it would have been.
 */
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { replayRecordSchema } from '../../src/features/calls/replay-record.ts';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { eventually } from '../support/eventually.ts';
import type { AnswerBody } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

/** Six effects, with clock, chance, a value that others change, a race and a wait between them. */
const PLUGIN = `
const RECEIVER = '0x00000000000000000000000000000000000abcde';
let served = 0;
export async function handler({ api, kv, params }) {
  served += 1;
  const relayer = api.useRelayer('local-1');
  const send = async (what) => {
    const data = '0x' + Array.from(new TextEncoder().encode(what), (byte) => byte.toString(16).padStart(2, '0')).join('');
    return relayer.sendTransaction({ to: RECEIVER, value: '7', data, gas_limit: 60000, speed: 'fast' });
  };
  if (params.does === 'sleep') { await api.sleep(params.ms); return { slept: true, served }; }
  if (params.does === 'event') {
    const first = await send(params.name + Date.now() + Math.random());
    const event = await api.waitFor('go', { timeout: params.timeout });
    return { id: first.id, event };
  }
  if (params.does === 'poll') {
    let looks = 0;
    for (const until = Date.now() + params.ms; Date.now() < until; await api.sleep(200)) {
      await kv.get('poll');
      looks += 1;
    }
    return { looks };
  }
  if (params.does === 'throw') throw Object.assign(new Error('no'), { status: 418, code: 'TEAPOT' });
  if (params.does === 'kill') { let s = 'ab'; while (s.length < 2 ** 28) s += s; return s.split('').length; }
  if (params.does === 'flaky') {
    const sent = await send(params.name);
    if ((await kv.get('flaky')) !== 'well') throw new Error('not well');
    return { id: sent.id };
  }
  const one = await send(params.name + ' 1 ' + Date.now() + ' ' + Math.random());
  const before = await kv.get(params.name);
  await kv.set(params.name, (before ?? 0) + 1);
  const two = await send(params.name + ' 2 ' + crypto.randomUUID() + JSON.stringify(before));
  const winner = await Promise.race([relayer.getRelayerStatus().then(() => 'status'), api.sleep(20).then(() => 'sleep')]);
  const three = await send(params.name + ' 3 ' + winner);
  const [four, five] = await Promise.all([send(params.name + ' 4'), kv.set(params.name + ':done', Date.now())]);
  const { status } = await three.wait({ until: 'confirmed', timeout: 120000 });
  return { ids: [one.id, two.id, three.id, four.id], winner, before, status, five, served, at: Date.now() };
}`;

async function setUp(t: Test, limits: object = {}, timeout = 20) {
  const anvil = await startAnvil({ blockTime: 0.2 });
  t.teardown(() => anvil.stop());
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    pluginFiles: { 'works.ts': PLUGIN },
    plugins: [
      {
        id: 'works',
        path: 'works.ts',
        durable: true,
        timeout,
        limits: { slice_ms: 500, cpu_ms: 20_000, lifetime: '10m', ...limits },
      },
    ],
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000' },
  });
  t.teardown(() => workspace.remove());
  await anvil.rpc('anvil_setBalance', [workspace.address, `0x${(10n ** 20n).toString(16)}`]);
  const start = async () => {
    const service = await composeService(workspace.env);
    t.teardown(() => service.stop());
    const ask = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
      const response = await fetch(`${service.url}/api/v1/plugins/works${path}`, {
        method,
        headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return {
        status: response.status,
        location: response.headers.get('location'),
        body: (await response.json()) as AnswerBody,
      };
    };
    const call = (params: object, headers: Record<string, string> = {}) => ask('POST', '/call', { params }, headers);
    const view = async (id: string) => (await ask('GET', `/calls/${id}`)).body.data;
    const sent = async () => (await service.request('GET', '/api/v1/relayers/local-1/transactions?per_page=100')).body;
    return { service, ask, call, view, sent };
  };
  return { workspace, start };
}

const ASYNC = { prefer: 'respond-async' };

t.test('a durable call', { timeout: 120_000 }, async (t) => {
  const { start } = await setUp(t);
  const { ask, call, view, sent, service } = await start();

  const seedOf = async (name: string) => {
    await call({ does: 'sleep', name, ms: 1 }, { 'idempotency-key': name });
    const { data } = (await ask('GET', '/calls?state=returned')).body;
    const { id } = data.find(({ key }: { key: string }) => key === name);
    return (await ask('GET', `/calls/${id}/record`)).body.data.seed;
  };

  await t.test('is answered like any other, and kept', async (t) => {
    const answer = await call({ name: 'plain' }, { 'idempotency-key': 'plain' });
    t.match(answer, { status: 200, body: { success: true, data: { status: 'confirmed', before: null } } });
    const again = await call({ name: 'plain' }, { 'idempotency-key': 'plain' });
    t.strictSame(again.body, answer.body);
    t.match(await call({ name: 'other' }, { 'idempotency-key': 'plain' }), { status: 409 });
    const { body } = await ask('GET', '/calls?state=returned');
    t.match(body.data, [{ key: 'plain', state: 'returned', tries: 1, answer: answer.body.data, error: null }]);
    const { data } = (await ask('GET', `/calls/${body.data[0].id}/record`)).body;
    t.match(data, { format: 1, plugin: 'works', outcome: { returned: answer.body.data } });
    t.ok(data.deliveries.length >= 9);
    t.match(data.deliveries[0], { request: 1, method: 'relayer.sendTransaction', answer: { ok: true } });
    t.ok(replayRecordSchema.safeParse(data).success, 'isolayer plugin replay takes it');
    t.not(data.seed, await seedOf('other'), 'each call has a chance of its own');
    t.equal((await sent()).pagination.total_items, 4);
  });

  await t.test('throws once, and says so', async (t) => {
    t.match(await call({ does: 'throw' }), { status: 418, body: { data: { code: 'TEAPOT' } } });
    const { body } = await ask('GET', '/calls?state=threw');
    t.match(body.data, [{ state: 'threw', tries: 1, error: { code: 'TEAPOT', status: 418, message: 'no' } }]);
  });

  await t.test('goes on when its caller does not wait, and holds nothing while it sleeps', async (t) => {
    const { status, location, body } = await call({ does: 'sleep', ms: 14_000 }, ASYNC);
    t.equal(status, 202);
    t.match(body, { success: true, data: { state: 'running' } });
    t.equal(location, `/api/v1/plugins/works/calls/${body.data.id}`);
    const waiting = await eventually(
      () => view(body.data.id),
      ({ state }) => state === 'waiting',
      10_000,
    );
    t.match(waiting, { waits_for: [{ kind: 'time' }], tries: 1 });
    const plugin = (await ask('GET', '')).body.data;
    t.equal(plugin.now.calls_running, 0);
    const ended = await eventually(
      () => view(body.data.id),
      ({ state }) => state === 'returned',
      20_000,
    );
    t.match(
      ended,
      { answer: { slept: true, served: 1 }, tries: 2, waits_for: [] },
      'in an isolate that has served none',
    );
    const late = Date.parse(ended.ended_at) - Date.parse(ended.created_at) - 14_000;
    t.ok(late >= 0 && late < 5_000, `${late} ms after its time`);
  });

  await t.test('hears of events, also of one that came before it waited', async (t) => {
    const before = (await sent()).pagination.total_items;
    const { body } = await call({ does: 'event', name: 'e', timeout: 60_000 }, ASYNC);
    const { id } = body.data;
    const waiting = await eventually(
      () => view(id),
      ({ state }) => state === 'waiting',
      25_000,
    );
    t.match(waiting, { waits_for: [{ kind: 'event', name: 'go' }] });
    t.match(await ask('POST', `/calls/${id}/events/other`, { value: 1 }), { status: 200 });
    t.match(await ask('POST', `/calls/${id}/events/go`, { value: { yes: true } }), { status: 200 });
    const ended = await eventually(
      () => view(id),
      ({ state }) => state === 'returned',
      10_000,
    );
    t.match(ended, { answer: { event: { yes: true } } });
    t.equal((await sent()).pagination.total_items, before + 1, 'the payment before the wait was made once');
    t.match(await ask('POST', `/calls/${id}/events/go`, { value: 1 }), { status: 400 }, 'it has ended');
    t.match(await ask('GET', '/calls/nobody'), { status: 404 });
  });

  await t.test('is canceled', async (t) => {
    const { body } = await call({ does: 'sleep', ms: 600_000 }, ASYNC);
    const { id } = body.data;
    t.match(await ask('POST', `/calls/${id}/cancel`), { status: 200, body: { data: { state: 'canceled' } } });
    t.match(await ask('POST', `/calls/${id}/cancel`), { status: 400 });
    t.match(await view(id), { state: 'canceled', error: { code: 'CALL_CANCELED' } });
  });

  await t.test('that threw goes on from its last effect when it is tried again', async (t) => {
    const before = (await sent()).pagination.total_items;
    t.match(await call({ does: 'flaky', name: 'f' }, { 'idempotency-key': 'flaky' }), { status: 500 });
    const [{ id }] = (await ask('GET', '/calls?state=threw')).body.data;
    await service.call('works', { does: 'none', name: 'unused' }).catch(() => undefined);
    t.match(await ask('POST', `/calls/${id}/retry`), { status: 200 });
    const again = await eventually(
      () => view(id),
      ({ state }) => state !== 'running',
      10_000,
    );
    t.match(again, { state: 'threw', tries: 2, error: { message: 'not well' } });
    t.ok((await sent()).pagination.total_items >= before + 1);
  });

  await t.test('that brings down its process again and again ends', async (t) => {
    const answer = await call({ does: 'kill' });
    t.match(answer.body.data, { code: /LIMIT|SANDBOX_LOST/ });
    const { body } = await ask('GET', '/calls?state=threw');
    t.match(body.data[0], { state: 'threw' });
  });
});

t.test('a call that always hears of something outlasts the time of a run', { timeout: 60_000 }, async (t) => {
  const { call, view } = await (await setUp(t, {}, 2)).start();
  const { body } = await call({ does: 'poll', ms: 5_000 }, ASYNC);
  const ended = await eventually(
    () => view(body.data.id),
    ({ ended_at: at }) => at !== null,
    40_000,
  );
  t.equal(ended.state, 'returned', JSON.stringify(ended.error));
  t.ok(ended.answer.looks > 5);
});

t.test('calls go on after their service was stopped', { timeout: 120_000 }, async (t) => {
  const { start } = await setUp(t);
  const first = await start();
  const { body } = await first.call({ does: 'event', name: 'stop', timeout: 100_000 }, ASYNC);
  const other = await first.call({ name: 'under-way' }, { ...ASYNC, 'idempotency-key': 'under-way' });
  await eventually(first.sent, ({ pagination }) => pagination.total_items >= 2, 10_000);
  await first.service.stop();
  const second = await start();
  await delay(100);
  t.match(await second.ask('POST', `/calls/${body.data.id}/events/go`, { value: 'now' }), { status: 200 });
  const ended = await eventually(
    () => second.view(body.data.id),
    ({ state }) => state === 'returned',
    20_000,
  );
  t.match(ended, { answer: { event: 'now' } });
  const done = await eventually(
    () => second.view(other.body.data.id),
    ({ state }) => state === 'returned',
    40_000,
  );
  t.match(done, { answer: { status: 'confirmed', served: 1 } });
  const { data } = await second.sent();
  const own = data.filter((one: { data: string }) =>
    Buffer.from(one.data.slice(2), 'hex').toString().startsWith('under-way'),
  );
  t.equal(own.length, 4);
});

t.test('a durable call with one effect costs no commit more than a call with an idempotency key', async (t) => {
  const source = "export const handler = async ({ kv, params }) => { await kv.get('a'); await kv.set('a', params); };";
  const workspace = await createWorkspace({
    pluginFiles: { 'sets.ts': source },
    plugins: [
      { id: 'durable', path: 'sets.ts', durable: true },
      { id: 'keyed', path: 'sets.ts' },
    ],
    env: { METRICS_ENABLED: 'true', METRICS_PORT: '0' },
  });
  t.teardown(() => workspace.remove());
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  const metrics = /"metricsAddress":"([^"]+)"/.exec(service.output())?.[1] ?? '';
  const commits = async () => {
    const text = await (await fetch(`${metrics}/metrics`)).text();
    return Number(/store_write_duration_seconds_count\{[^}]*outcome="kept"[^}]*\} (\d+)/.exec(text)?.[1]);
  };
  const costs = async (id: string, key: string) => {
    const before = await commits();
    const response = await fetch(`${service.url}/api/v1/plugins/${id}/call`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': `${id}-${key}`,
      },
      body: JSON.stringify({ params: { key } }),
    });
    t.equal(response.status, 200, await response.text());
    return (await commits()) - before;
  };
  // The first call of each plugin has its version stored.
  await costs('durable', 'first');
  await costs('keyed', 'first');
  const [durable, keyed] = [await costs('durable', 'second'), await costs('keyed', 'second')];
  t.ok(durable <= keyed, `${durable} and ${keyed}`);
  t.equal(durable, 3, 'accepted and begun, the effect with all that was heard, the end');
});
