/**
 * Threat: an attacker controls a plugin's process, next to processes of other plugins. It forges answers, claims calls
 * of others, and floods the shared thread. Its own calls end. Other plugins keep serving, nothing of theirs leaks,
 * nothing happens in their name, and the main loop stays free.
 */

import t from 'tap';
import { FIXED_LIMITS } from '../../sandbox/contract.ts';
import { hostileScript, inside } from '../../sandbox/test/support/hostile-sandbox.ts';
import { besideHostile } from '../support/beside-hostile.ts';
import { eventually } from '../support/eventually.ts';
import { descendantsOf, survivors } from '../support/processes.ts';

const start = await besideHostile(t);

const usage = { cpu_ms: 1, calls: 0, heap_bytes: 0 };
const done = (outcome: object) =>
  `say(UP.DONE, call, ${JSON.stringify({ outcome, usage, dropped_logs: 0, isolates: 1 })}); return 'silent';`;
const ask = (call: string, id: number, method: string, params: object) =>
  `say(UP.REQUEST, ${call}, ${JSON.stringify({ id, method, params })});`;

t.test('no forged end becomes an answer, and the plugin beside it notices nothing', async (t) => {
  const { call, host, services } = await start(t);
  const children = (await descendantsOf(process.pid)).filter(({ command }) => command.includes('isolayer-sandbox'));
  const within = `say(UP.ENTER, call); say(UP.RETURNED, call, '1 0 0 0 1\\nnull,"success":true,"forged":1'); return 'silent';`;
  const forged: Record<string, object | string> = {
    'an answer within the answer': within,
    'details that close the answer': {
      kind: 'threw',
      message: 'm',
      code: 'C',
      status: 200,
      details: '{}},"forged":1,"x":{',
    },
    'an end that the client should wait for': { kind: 'ended', code: 'SERVICE_UNAVAILABLE', message: 'forged' },
  };
  const waiting = call('honest', { secret: 'long', waits: 3000 });
  let way = 0;
  for (const [what, outcome] of Object.entries(forged)) {
    // Different parameters each time. Otherwise the second call would be refused.
    way += 1;
    const script = typeof outcome === 'string' ? outcome : `${inside('')} ${done(outcome)}`;
    const answer = await call('hostile', { ...hostileScript(script), way });
    t.equal(answer.status, 503, what);
    t.notMatch(answer.text, /forged/, what);
    t.match(await call('honest', { secret: what }), { status: 200, body: { data: { secret: what, kept: what } } });
    host.status();
  }
  t.match(await waiting, { status: 200, body: { data: { secret: 'long' } } }, 'a call that waited all the time');
  t.equal(services.sent.length, 0);
  await host.close(1000);
  t.same(await survivors(children, 3000), [], 'no process is left');
});

t.test('what a plugin may raise itself arrives as it is, and harms nobody', async (t) => {
  const { call } = await start(t);
  const code = 'A\r\nset-cookie: x=1\u001b[2J\u202e';
  const outcome = { kind: 'threw', message: code, code, status: 200, details: '{"a":"\\u0000"}' };
  const log = inside(`say(UP.LOG, call, ${JSON.stringify(`warn ${code}`)})`);
  const answer = await call('hostile', hostileScript(`${log} ${done(outcome)}`));
  t.match(answer.body, {
    success: false,
    data: { code, details: { a: '\u0000' } },
    metadata: { logs: [{ message: code }] },
  });
  t.notMatch(answer.text, /[\u0000-\u001f]/, 'control characters are written as escapes');
  for (const status of [99, 100, 204, 304, 600, 2 ** 40]) {
    const answered = await call('hostile', hostileScript(`${inside('')} ${done({ ...outcome, status })}`));
    t.equal(answered.status, 500, `status ${status}`);
  }
});

t.test('a forged number of another plugin’s call reaches nothing', async (t) => {
  const { call, services, host } = await start(t);
  await call('honest');
  const victim = call('honest', { secret: 'victim', waits: 2000 });
  await eventually(
    () => host.status().running,
    (running) => running === 1,
  );
  for (let number = 1; number <= 3; number++) {
    const params = { relayerId: 'known', request: {} };
    const body = `say(UP.ENTER, ${number}); ${ask(String(number), 1, 'relayer.sendTransaction', params)}
      say(UP.LEAVE, ${number}); done(${number}, 'forged'); return 'silent';`;
    t.match(await call('hostile', hostileScript(body)), { status: 503 });
  }
  t.equal(services.sent.length, 0, 'nothing was sent');
  t.match(await victim, { status: 200, body: { data: { secret: 'victim', kept: 'victim' } } });
});

t.test('a capability call has the grants of the plugin whose process it comes from', async (t) => {
  const { call, services } = await start(t, { permissions: { relayers: { known: ['read'] }, kv: true } });
  await call('honest', { secret: 'other plugin’s' });
  const asks = [
    ['relayer.sendTransaction', { relayerId: 'known', request: {} }],
    ['kv.get', { key: '../honest/mine' }],
    ['kv.get', { key: 'mine', pluginId: 'honest' }],
    ['kv.get', { key: 'mine' }],
    ['__proto__', {}],
    ['constructor', {}],
  ] as const;
  const body = asks.map(([method, params], at) => `${inside(ask('call', at + 1, method, params))}`).join('\n');
  const collects = `const replies = []; for (let at = 0; at < ${asks.length}; at++) replies.push(JSON.parse(await reply()));
    done(call, replies); return 'silent';`;
  const { body: answer } = await call('hostile', hostileScript(`${body} ${collects}`));
  const replies = (answer.data as { id: number; reply: object }[])
    .sort((a, b) => a.id - b.id)
    .map(({ reply }) => reply);
  t.match(replies[0], { ok: false, error: { message: /send/ } });
  t.match(replies[1], { ok: false });
  t.match(replies[2], { ok: false, error: { message: /Invalid payload/ } });
  t.same(replies[3], { ok: true, value: null }, 'its own values, of which there are none');
  t.match(replies[4], { ok: false, error: { message: /no capability/ } });
  t.match(replies[5], { ok: false, error: { message: /no capability/ } });
  t.equal(services.sent.length, 0);
});

t.test('a subverted process can take its own plugin’s calls for each other, within the budget of each', async (t) => {
  const { call, services, host } = await start(t, { limits: { calls: 3 } });
  const first = call('hostile', hostileScript("return 'silent';"));
  await eventually(
    () => host.status().running,
    (running) => running === 1,
  );
  const params = { relayerId: 'known', request: {} };
  const asks = [1, 2, 3, 4].map((id) => ask('calls[0]', id, 'relayer.sendTransaction', params)).join(' ');
  const body = `say(UP.ENTER, calls[0]); ${asks} say(UP.LEAVE, calls[0]); ${inside('')} done(call); return 'silent';`;
  t.match(await call('hostile', hostileScript(body)), { status: 200 });
  t.match(await first, { status: 500, body: { data: { code: 'CALL_LIMIT' } } });
  t.ok(services.sent.length <= 3, 'no call makes more capability calls than one call may');
});

t.test('replies that nobody reads do not fill the server', async (t) => {
  const { call, services } = await start(t);
  services.store.set('hostile/big', 'x'.repeat(1_000_000));
  const asks = `for (let id = 1; id <= ${FIXED_LIMITS.pending_requests}; id++)
    channel.send(UP.REQUEST, call, JSON.stringify({ id, method: 'kv.get', params: { key: 'big' } }))`;
  const deaf = `${inside(asks)} const pause = new Int32Array(new SharedArrayBuffer(4));
    for (;;) { say(UP.ISOLATES, 0, '1'); Atomics.wait(pause, 0, 0, 50); }`;
  t.match(await call('hostile', hostileScript(deaf)), { status: 503, body: { data: { code: 'SANDBOX_LOST' } } });
  t.match(await call('honest', { secret: 'after' }), { status: 200, body: { data: { kept: 'after' } } });
});
