/**
 * Threat: one plugin or call reaches what belongs to another: values, locks, relayers, globals, log lines or
 * credentials. Isolates are reused, so each of these would be a leak between callers. If one of these fails, look at
 * `src/features/plugins/host/gateway.ts`, which adds the plugin's identity, and at `sandbox/process/isolate-pool.ts`.
 */
import t from 'tap';
import { openStage } from '../../support/attacks/stage.ts';
import { composeService } from '../../support/composed-service.ts';

const CANARY = 'canary-of-somebody-else';
const handler = (body: string) =>
  `export async function handler(context) { const { kv, api, params } = context;\n${body}\n}`;

const NEIGHBOURS: Record<string, string> = {
  'writer.ts': handler(`
    globalThis.canary = '${CANARY}'; context.kv.canary = '${CANARY}';
    try { Object.prototype.canary = '${CANARY}'; } catch {}
    Error.prepareStackTrace = () => '${CANARY}'; console.canary = '${CANARY}'; process.env.CANARY = '${CANARY}';
    await kv.set('own', '${CANARY}');
    return 'written';`),
  'reader.ts': handler(`
    const found = [globalThis.canary, ({}).canary, context.kv.canary, console.canary, process.env.CANARY, new Error('x').stack,
      await kv.get('own'), await kv.listKeys('*'), JSON.stringify(Object.getOwnPropertyNames(globalThis))];
    return JSON.stringify(found);`),
  'once.ts': handler(`
    const before = [globalThis.kept, context.kv.kept, console.kept, Error.kept, Error.prepareStackTrace, process.env.KEPT];
    globalThis.kept = console.kept = process.env.KEPT = '${CANARY}'; Error.prepareStackTrace = () => '${CANARY}';
    return before.map((one) => one ?? null);`),
  'keeps.ts':
    handler(`
    if (params.keep) { saved = context; return 'kept'; }
    if (saved === undefined) return 'another isolate';
    const set = await saved.kv.set('by-saved', params.name).catch((error) => error.message);
    return { set, same: await kv.get('by-saved'), caller: saved.params };`) + 'let saved;',
  'holder.ts': handler(`
    if (params.letGo) return await kv.set('let-go', true);
    if (params.hold) return await kv.withLock('own', async () => {
      while (!(await kv.get('let-go'))) await new Promise((r) => setTimeout(r, 100));
      return 'held';
    });
    const names = ['unlock', 'fence', 'lock', '_lock'].filter((name) => name in kv);
    return await kv.withLock('own', async () => 'stolen', { onBusy: 'skip' }).then((got) => [got, names]);`),
  'slow-lock.ts': handler(`
    return await kv.withLock('slow', async () => {
      await kv.set('value', 'in time');
      await new Promise((r) => setTimeout(r, 4000));
      return await kv.set('value', 'too late').catch((error) => error.message);
    }, { ttlSec: 3 }).then(async (said) => [said, await kv.get('value')]);`),
  'asks.ts': handler(`
    const { headers, caller, query, route, method } = context;
    return JSON.stringify({ headers, caller, query, route, method, env: process.env });`),
  'stranger.ts': handler(`
    const said = [];
    for (const way of [() => api.useRelayer('local-1').getRelayer(), () => api.useRelayer('local-1').sendTransaction({}), () => kv.get('own'), () => fetch('http://127.0.0.1/')]) {
      said.push(await way().then((value) => 'got ' + JSON.stringify(value), (error) => error.message));
    }
    return said;`),
  'forger.ts': handler(`
    console.log('line one\\r\\n{"level":60,"msg":"forged"}\\u001b[2J\\u202e'); console.error('\\u0000\\u2028');
    return 'logged';`),
  'rejects.ts': handler(`
    if (params.reject) { setTimeout(() => { throw new Error('${CANARY}'); }, 30); Promise.reject(new Error('${CANARY}')); return 'left'; }
    await new Promise((r) => setTimeout(r, 150));
    return 'clean';`),
  'mutates.ts': handler(`
    const before = JSON.stringify([params, context.headers, await kv.get('shared')]);
    for (const object of [params, context.headers, context.query, context]) { try { object.polluted = 1; object.__proto__.polluted = 1; } catch {} }
    const value = await kv.get('shared'); if (value) value.polluted = 1;
    await kv.set('shared', { list: [1] });
    return before;`),
};

const stage = await openStage(t, [], composeService, {
  pluginFiles: NEIGHBOURS,
  plugins: [
    { id: 'once', path: 'once.ts', isolation: 'call' },
    { id: 'stranger', path: 'stranger.ts', permissions: {} },
    { id: 'forger', path: 'forger.ts', forward_logs: true },
    { id: 'rejects', path: 'rejects.ts', emit_logs: true },
  ],
  env: { API_KEY: `${CANARY}-which-is-the-key-of-this-server` },
});
const { service } = stage;

t.test(
  'threat 48: what one call leaves is not there for another plugin, nor for another call of its own isolate',
  async (t) => {
    // Threat: the next call finds globals, values and hooks of this one. Calls of one plugin may share an isolate.
    t.equal((await service.call('writer')).body.data, 'written');
    for (let call = 0; call < 3; call++) {
      const { status, body } = await service.call('reader');
      t.equal(status, 200);
      t.notMatch(body.data, CANARY);
      t.match((await service.call('once')).body.data, [null, null, null, null, null, null], 'isolation: call');
    }
  },
);

t.test('threat 49: a polluted prototype stays in its own isolate', async (t) => {
  // Threat: a prototype that one plugin has changed is used by another plugin or by the runtime.
  for (let call = 0; call < 4; call++) await service.call('writer');
  t.notMatch((await service.call('reader')).body.data, CANARY);
  t.match(await service.call('honest'), { status: 200, body: { data: 'honest' } });
});

t.test('threat 33: what a guest changes of what it was given changes nothing on this side', async (t) => {
  // Threat: live objects cross the boundary, and a guest changes the host's objects.
  const params = { list: [1, { deep: 'x' }] };
  const first = (await service.call('mutates', params)).body.data;
  for (let call = 0; call < 3; call++) {
    const { body } = await service.call('mutates', params);
    t.notMatch(body.data, 'polluted');
    t.match(JSON.parse(body.data)[2], { list: [1] });
  }
  t.notMatch(first, 'polluted');
});

t.test('threat 28: a rejection of one call is not the error of the next', async (t) => {
  // Threat: the engine reports a rejection during whatever runs next.
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, at) => service.call('rejects', at % 2 === 0 ? { reject: true } : {})),
  );
  for (const [at, { status, body }] of answers.entries()) {
    t.match({ status, data: body.data }, { status: 200, data: at % 2 === 0 ? 'left' : 'clean' });
    if (at % 2 === 1) t.strictSame(body.metadata.logs, []);
  }
  const next = await service.call('rejects');
  t.match(next, { status: 200, body: { data: 'clean' } });
  t.strictSame(next.body.metadata.logs, []);
});

t.test(
  'threat 59: what was captured in one call acts in no later one, and other plugins’ things stay theirs',
  async (t) => {
    // Threat: a plugin uses another one's relayer, values or lock. Or an ended call goes on with objects that it kept.
    await service.call('keeps', { keep: true });
    const later = (await service.call('keeps', { name: 'second' })).body.data;
    t.match(later, { set: 'kv.set was called after the plugin call had ended', same: null, caller: { keep: true } });
    const [refusedRelayer, refusedSend, refusedKv, refusedFetch] = (await service.call('stranger')).body.data;
    for (const said of [refusedRelayer, refusedSend]) t.match(said, /stranger.*local-1/);
    t.match(refusedKv, /stranger.*kv/);
    t.match(refusedFetch, /no grant for requests/);

    const held = service.call('holder', { hold: true });
    let second = (await service.call('holder')).body.data;
    for (let attempt = 0; attempt < 200 && second[0] !== null; attempt++)
      second = (await service.call('holder')).body.data;
    t.strictSame(second, [null, []], 'a lock is its call’s own, and no name gives it away');
    await service.call('holder', { letGo: true });
    t.match((await held).body, { data: 'held' });
  },
);

t.test('threat 64: who holds a lock past its time writes nothing any more', async (t) => {
  // Threat: a paused lock holder comes back, and overwrites what the next holder wrote.
  const [said, value] = (await service.call('slow-lock')).body.data;
  t.match(said, /lock lost/);
  t.equal(value, 'in time');
});

t.test('threat 60: neither the key nor what it was sent in reaches a plugin', async (t) => {
  // Threat: the API key is in the headers, in upper or lower case, or in the environment.
  for (const name of ['authorization', 'Authorization', 'AUTHORIZATION']) {
    const response = await fetch(`${service.url}/api/v1/plugins/asks/call?x=1`, {
      method: 'POST',
      headers: { [name]: `Bearer ${service.apiKey}`, 'x-own': 'kept', 'content-type': 'application/json' },
      body: '{"params":{}}',
    });
    t.equal(response.status, 200);
    const text = await response.text();
    t.notMatch(text.toLowerCase(), CANARY);
    t.notMatch(text.toLowerCase(), /authorization|bearer/);
    t.match(text, 'x-own', 'its own headers are there');
    t.match(text, 'keyId', 'and the caller’s verified identity');
  }
});

t.test('threat 62: forwarded lines cannot forge or command', async (t) => {
  // Threat: a plugin's log line looks like another line of the service's log, or controls the operator's terminal.
  t.equal((await service.call('forger')).body.data, 'logged');
  const end = performance.now() + 5000;
  const lines = () =>
    service
      .output()
      .split('\n')
      .filter((line) => line.includes('forged'));
  while (lines().length === 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal(lines().length, 1);
  for (const line of lines()) t.match(JSON.parse(line), { level: 'info', pluginId: 'forger' });
  // oxlint-disable-next-line no-control-regex -- that is what is looked for
  t.notMatch(service.output(), /[\u0000\u001b\u202e\u2028]/);
});
