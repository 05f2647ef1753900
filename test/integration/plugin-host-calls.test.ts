/** Plugins in real children: what they get, what they can request, and all the ways in which a call can end. */
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { type HostAnswer, startPluginHost } from '../support/plugin-host.ts';

const handler = (body: string) =>
  `export async function handler(context) {\n  const { params, api, kv } = context;\n${body}\n}\n`;

/** The shared host, for tests that only differ in their plugins. */
const { call, close, host, services } = await startPluginHost({
  files: {
    'relay.ts': handler(`
      console.log('sending', params.amount);
      const relayer = api.useRelayer('known');
      const sent = await relayer.sendTransaction({ to: '0x1', value: params.amount });
      const final = await sent.wait({ interval: 10, timeout: 1000 });
      await kv.set('last', sent.id);
      return { sent, final, last: await kv.get('last'), other: await kv.get('nothing') };`),
    'see.ts': handler(`return { ...context, api: undefined, kv: undefined, env: process.env };`),
    'thief.ts': handler(`return [await kv.get('secret'), await kv.get('keeper:secret')];`),
    'bound.ts': handler(`
      const attempts = {
        read: () => api.useRelayer('known').getRelayer(),
        send: () => api.useRelayer('known').sendTransaction({}),
        other: () => api.useRelayer('other').getRelayer(),
        kv: () => kv.set('a', 1),
      };
      const answers = {};
      for (const [name, attempt] of Object.entries(attempts)) {
        answers[name] = await attempt().then(() => 'done', (error) => error.message);
      }
      return answers;`),
    'uncaught.ts': handler(`return api.useRelayer('paused').sendTransaction({});`),
    'lingers.ts': handler(`
      const relayer = api.useRelayer('known');
      const send = () => relayer.sendTransaction({ late: true }).catch(() => {});
      (async () => { for (let i = 0; i < 50; i++) { await new Promise((r) => setTimeout(r, 5)); await send(); } })();
      return 'done';`),
    'outlives.ts': handler(`
      await new Promise((resolve) => setTimeout(resolve, 1500));
      await api.useRelayer('known').sendTransaction({ late: true });`),
    'waits.ts': handler(`await new Promise((resolve) => setTimeout(resolve, 20_000));`),
    'sends.ts': handler(`
      await api.useRelayer('known').sendTransaction({ n: 1 });
      await new Promise((resolve) => setTimeout(resolve, 200));
      await api.useRelayer('known').sendTransaction({ n: 2 });
      return 'both';`),
  },
  entries: [
    { id: 'relay', emit_logs: true, emit_traces: true },
    { id: 'see', config: { fee: 1 }, permissions: { relayers: {}, hosts: [], env: ['NETWORK'], kv: false } },
    { id: 'bound', permissions: { relayers: { known: ['read'] }, hosts: [], env: [], kv: false } },
    { id: 'lingers', emit_logs: true },
    { id: 'outlives', timeout: 1 },
  ],
  environment: (name) => ({ NETWORK: 'testnet', API_KEY: 'canary' })[name],
});
t.teardown(close);

t.test('a plugin relays, waits, keeps values and is traced', async (t) => {
  const answer = await call('relay', { amount: 5 });
  t.match(answer, {
    status: 200,
    body: {
      success: true,
      error: null,
      data: { sent: { id: 'tx-1', nonce: 7 }, final: { status: 'mined' }, last: 'tx-1', other: null },
      metadata: {
        logs: [{ level: 'log', message: 'sending 5' }],
        traces: [
          { method: 'sendTransaction', relayerId: 'known', payload: { to: '0x1', value: 5 }, outcome: 'ok' },
          { method: 'transactionWait', relayerId: 'known', outcome: 'ok' },
        ],
      },
    },
  });
  t.notOk('wait' in answer.body.data.sent, 'functions inside a result are dropped');
  t.same(services.sent.splice(0), [{ relayerId: 'known', body: { to: '0x1', value: 5 } }]);
  t.same([...services.store], [['relay/last', 'tx-1']], 'under the plugin’s own name');
});

t.test('a plugin sees what was sent to it and nothing else', async (t) => {
  services.store.set('keeper/secret', 'canary');
  const request = { route: '/x', headers: { authorization: ['Bearer canary'], 'x-a': ['1'] }, query: { q: ['1'] } };
  const { body, text } = await call('see', { a: 1 }, request);
  t.strictSame(body.data, {
    params: { a: 1 },
    headers: { 'x-a': ['1'] },
    route: '/x',
    config: { fee: 1 },
    method: 'POST',
    query: { q: ['1'] },
    caller: { keyId: 'key-1' },
    env: { NETWORK: 'testnet' },
  });
  t.notMatch(text, 'canary');
  t.strictSame((await call('thief')).body.data, [null, null], 'another plugin’s values stay its own');
});

t.test('a plugin can do what it was granted, and a refusal names the line to add', async (t) => {
  const line = 'to permissions.relayers of its entry in config.json';
  t.strictSame((await call('bound')).body.data, {
    read: 'done',
    send: `Plugin bound has no grant to send through relayer known: add "known": ["read", "send"] ${line}`,
    other: `Plugin bound has no grant to read relayer other: add "other": ["read"] ${line}`,
    kv: 'Plugin bound has no grant to use the key-value store: add "kv": true to permissions of its entry in config.json',
  });
  t.same([services.sent, services.store.has('bound/a')], [[], false]);
  t.match(await call('uncaught'), {
    status: 500,
    body: { error: 'Relayer error: Relayer is paused', data: { code: 'PLUGIN_ERROR' } },
  });
});

/** Handler bodies, and how their calls end. */
const ENDS: Record<string, { body: string; status: number; code: string; error: RegExp; logs?: object[] }> = {
  'throws-error': { body: `throw new Error('broken');`, status: 500, code: 'PLUGIN_ERROR', error: /^broken$/ },
  'throws-text': { body: `throw 'just text';`, status: 500, code: 'PLUGIN_ERROR', error: /^just text$/ },
  'throws-null': { body: `throw null;`, status: 500, code: 'PLUGIN_ERROR', error: /^null$/ },
  'throws-shape': {
    body: `throw { message: 'm', code: 'C', status: 418, details: { a: 1 } };`,
    status: 418,
    code: 'C',
    error: /^m$/,
  },
  'returns-function': { body: `return () => 1;`, status: 500, code: 'RESULT_NOT_SERIALIZABLE', error: /function/ },
  'returns-bigint': { body: `return { a: [5n] };`, status: 500, code: 'RESULT_NOT_SERIALIZABLE', error: /a\[0\]/ },
  'returns-cycle': {
    body: `const a = {}; a.self = a; return a;`,
    status: 500,
    code: 'RESULT_NOT_SERIALIZABLE',
    error: /self/,
  },
  'returns-100-mb': { body: `return 'x'.repeat(1e8);`, status: 500, code: 'RESULT_TOO_LARGE', error: /1048576/ },
  'never-ends': {
    body: `console.log('waiting'); await new Promise(() => {});`,
    status: 504,
    code: 'TIMEOUT',
    error: /^Plugin execution timed out after 1 seconds$/,
    logs: [{ message: 'waiting' }],
  },
  loops: { body: `console.log('looping'); for (;;) {}`, status: 504, code: 'CPU_LIMIT', error: /./ },
  'asks-too-often': { body: `for (;;) await kv.get('x');`, status: 500, code: 'CALL_LIMIT', error: /limits\.calls/ },
};

t.test('every end has its code, and the host serves on', async (t) => {
  const { call, close, host } = await startPluginHost({
    files: {
      'ends.ts': handler(`switch (params.end) {
        ${Object.entries(ENDS)
          .map(([end, { body }]) => `case '${end}': { ${body} }`)
          .join('\n')}
      }`),
      'honest.ts': handler(`return 'honest';`),
      'syntax.ts': 'export function handler() {\n  return 1 +;\n}\n',
      'no-handler.ts': 'export const other = 1;',
      'common.js': 'module.exports = { handlers: { handler: 1 } };',
      'throws-on-load.ts': `throw new Error('not today');`,
    },
    entries: [
      { id: 'ends', timeout: 60, emit_logs: true, limits: { calls: 20 } },
      { id: 'waits', path: 'ends.ts', timeout: 1, emit_logs: true },
    ],
  });
  t.teardown(close);
  for (const [end, { status, code, error, logs = Array }] of Object.entries(ENDS)) {
    const answer: HostAnswer = await call(code === 'TIMEOUT' ? 'waits' : 'ends', { end });
    t.equal(answer.status, status, `${end}: status`);
    t.match(answer.body, { success: false, data: { code }, error, metadata: { logs } }, end);
    t.match(await call('honest'), { status: 200, body: { data: 'honest' } }, `${end}: another plugin serves`);
  }
  t.match(await call('syntax'), { body: { data: { code: 'COMPILE_ERROR' }, error: /plugins\/syntax\.ts:2:13/ } });
  const stands = async (id: string) => ((await host.get(id)) as { state: string }).state;
  t.equal(await stands('no-handler'), 'broken', 'before anybody calls it');
  t.match(await call('no-handler'), { status: 500, body: { error: 'Plugin must export a handler function' } });
  t.equal(await stands('no-handler'), 'broken');
  t.equal(await stands('common'), 'serving');
  t.match(await call('common'), { status: 500, body: { error: 'Plugin must export a handler function' } });
  t.equal(await stands('common'), 'broken', 'what only running it can tell is known then');
  const unfit = host.status().plugins.filter(({ state }) => state !== 'serving');
  t.match(unfit, [{ id: 'common', reason: /handler/ }, { id: 'no-handler', reason: /handler/ }, { id: 'syntax' }]);
  t.match(await call('throws-on-load'), { status: 500, body: { error: /not today/ } });
  t.equal(host.status().running, 0);
});

t.test(
  'what nobody caught is in the logs and in the log of the service, with the author’s files and the causes',
  async (t) => {
    const { call, close, log, host } = await startPluginHost({
      files: {
        '_deep.ts': 'type A = string;\n\nexport function deep(): A {\n  throw new TypeError("deep down");\n}\n',
        'stack.ts': `import { deep } from './_deep.ts'; import { pluginError } from 'isolayer';
interface X { params: { how: string }; api: any } const spin = () => { for (;;) {} };
async function pay(api: X['api']) {
  await api.useRelayer('unknown').sendTransaction({});
}
export async function handler({ params, api }: X) {
  switch (params.how) {
    case 'console': try { deep(); } catch (error) { console.error((error as Error).stack); } return 1;
    case 'cause': try { deep(); } catch (cause) { throw new Error('no price', { cause }); }
    case 'left': Promise.reject(new RangeError('left behind')); return 1;
    case 'relayer': return await pay(api);
    case 'text': throw 'a text';
    case 'answer': throw Object.assign(new Error('not you'), { status: 403 });
    case 'meant': throw pluginError('not you', { status: 403, code: 'NOT_YOU' });
    case 'loop': spin();
  }
}
`,
        'loads.ts': `import { deep } from './_deep.ts';\n\nexport const price = deep();\nexport const handler = () => price;\n`,
      },
      entries: [{ id: 'stack', emit_logs: true, limits: { slice_ms: 100 } }, { id: 'loads' }],
    });
    t.teardown(close);
    const logged = (how: string) => {
      const errors = log()
        .split('\n')
        .filter((line) => line.includes('a plugin did not catch an error'));
      return errors.map((line) => JSON.parse(line)).filter(({ requestId }) => requestId === how);
    };
    const answer = (how: string) => call('stack', { how }, { requestId: how });
    const inDeep = /\n {4}at deep \(plugins\/_deep\.ts:4:9\)\n {4}at handler \(plugins\/stack\.ts:\d+:\d+\)/;

    t.match((await answer('console')).body.metadata.logs, [{ level: 'error', message: inDeep }]);
    t.same(logged('console'), []);

    const cause = await answer('cause');
    const withCause = new RegExp(
      `^Uncaught Error: no price\\n {4}at handler \\(plugins/stack\\.ts:9:\\d+\\)\\n\\[cause\\]: TypeError: deep down${inDeep.source}$`,
    );
    const place = { file: 'plugins/stack.ts', line: 9, column: Number };
    t.match(cause.body, { error: 'no price', data: { code: 'PLUGIN_ERROR', details: place } });
    t.match(cause.body.metadata.logs, [{ level: 'error', message: withCause }]);
    t.match(logged('cause'), [{ level: 'error', pluginId: 'stack', err: { stack: withCause } }]);

    const left = await answer('left');
    const leftBehind = /^Unhandled rejection: RangeError: left behind\n {4}at handler \(plugins\/stack\.ts:10:/;
    t.match(left.body, { success: true, metadata: { logs: [{ level: 'error', message: leftBehind }] } });
    t.match(logged('left'), [{ err: { stack: leftBehind } }]);

    const refused = (await answer('relayer')).body.metadata.logs.at(-1).message;
    t.match(
      refused,
      /not found\n {4}at pay \(plugins\/stack\.ts:4:\d+\)\n {4}at handler \(plugins\/stack\.ts:11:/,
      'who asked',
    );
    t.match(logged('text'), []);
    await answer('text');
    t.match(logged('text'), [{ err: { message: 'Uncaught "a text" (not an Error, so it has no stack)' } }]);
    t.match((await answer('answer')).body.metadata.logs, [{ message: /^Uncaught Error: not you\n/ }]);
    t.same(logged('answer'), [], 'an answer to the caller is nothing for the operator');
    t.strictSame((await answer('meant')).body, {
      success: false,
      error: 'not you',
      data: { code: 'NOT_YOU', details: {} },
      metadata: { logs: [] },
    });

    // On a crowded machine the driver may kill the process first, which leaves no stack.
    const loop = await eventually(
      () => answer('loop'),
      ({ body }) => body.data.details.file !== undefined,
    );
    t.match(loop, {
      status: 504,
      body: {
        error: /^The plugin ran for 100 ms without a pause \(limits\.slice_ms\), at plugins\/stack\.ts:2:\d+$/,
        data: { code: 'CPU_LIMIT', details: { file: 'plugins/stack.ts', line: 2, column: Number } },
      },
    });
    t.match(loop.body.metadata.logs.at(-1), {
      message:
        /^CPU_LIMIT: The plugin ran for 100 ms .*\n {4}at spin \(plugins\/stack\.ts:2:\d+\)\n {4}at handler \(plugins\/stack\.ts:15:/,
    });

    const told = 'plugins/loads.ts failed to load: deep down\n    at deep (plugins/_deep.ts:4:9)';
    t.match((await call('loads')).body, { error: told, data: { code: 'TYPE_ERROR', details: {} } });
    t.match(await host.get('loads'), {
      state: 'broken',
      error: { message: told, file: 'plugins/_deep.ts', line: 4, column: 9 },
    });
    const broken =
      log()
        .split('\n')
        .find((line) => line.includes('a plugin is broken')) ?? '{}';
    t.match(JSON.parse(broken).err.stack, /^Uncaught TypeError: deep down\n.*_deep\.ts:4:9.*\n.*loads\.ts:3:22\)?$/);
  },
);

t.test('after its end a call can do nothing more', async (t) => {
  const left = await call('lingers');
  t.match(left.status, 200);
  t.match(left.body.metadata.logs, [
    { level: 'warn', message: /left 1 timer behind, which the call's end has stopped/ },
  ]);
  t.match(await call('outlives'), { status: 504 });
  await new Promise((resolve) => setTimeout(resolve, 700));
  t.same(services.sent, []);
});

t.test('the line about calls that a handler did not await says what became of each', async (t) => {
  const { call, close, services, log } = await startPluginHost({
    files: {
      'forgets.ts': handler(`
        const relayer = api.useRelayer('known');
        relayer.sendTransaction({ to: '0x1' });
        api.useRelayer('paused').sendTransaction({ to: '0x2' }).catch(() => {});
        kv.set('x', 1);
        relayer.getRelayer();
        return 'too early';`),
      'slow.ts': handler(`
        const sent = api.useRelayer('known').sendTransaction({ to: '0x3' });
        sent.catch(() => {});
        if (params.throws) throw new Error('in a hurry');
        return 'too early';`),
      'reads.ts': handler(`api.useRelayer('known').getRelayer(); throw new Error('in a hurry');`),
    },
    entries: [
      { id: 'forgets', emit_logs: true },
      { id: 'slow', emit_logs: true },
      { id: 'reads', emit_logs: true },
    ],
  });
  t.teardown(close);
  const { body } = await call('forgets');
  const lines = body.metadata.logs.filter(({ level }: { level: string }) => level === 'warn');
  t.equal(lines.length, 1);
  const [{ message }] = lines;
  t.match(
    message,
    /^The handler has returned without waiting for relayer\.sendTransaction of known: accepted as transaction tx-1; /,
  );
  t.match(
    message,
    /relayer\.sendTransaction of paused: not done \(Relayer error: Relayer is paused\); kv\.set "x": done; /,
  );
  t.match(message, /relayer\.getRelayer of known: its answer was dropped\. Await what the handler starts\.$/);
  t.same(services.sent, [{ relayerId: 'known', body: { to: '0x1' } }]);
  t.equal(services.store.get('forgets/x'), 1);

  const held = Promise.withResolvers<void>();
  services.beforeSend = () => held.promise;
  const early = await call('slow');
  t.match(early.body.metadata.logs, [{ level: 'warn', message: /of known: still under way, it may happen yet\. / }]);
  const thrown = await call('slow', { throws: true });
  t.equal(thrown.status, 500);
  t.match(thrown.body.metadata.logs.at(-1), {
    level: 'warn',
    message: /^The call ended before the answer to relayer\.sendTransaction of known: still under way/,
  });
  held.resolve();
  const later = await eventually(
    () =>
      log()
        .split('\n')
        .filter((line) => line.includes('did not await')),
    (found) => found.length === 2,
  );
  t.match(
    later.map((line) => JSON.parse(line)),
    [
      { level: 'warn', pluginId: 'slow', left: 'relayer.sendTransaction of known', transactionId: 'tx-2' },
      { transactionId: 'tx-3' },
    ],
  );
  t.notMatch(
    (await call('reads')).body.metadata.logs.map(({ message }: { message: string }) => message),
    /getRelayer/,
  );
});

t.test('a timer that nobody can clear, or that was unref’d, costs no isolate', async (t) => {
  const { call, close } = await startPluginHost({
    files: {
      'counts.ts': `let calls = 0;
        export async function handler({ params }) {
          calls += 1;
          if (params.signal) AbortSignal.timeout(30_000);
          if (params.timer) setTimeout(() => {}, 30_000).unref();
          if (params.expires) await new Promise((done) => AbortSignal.timeout(5).addEventListener('abort', done));
          return calls;
        }`,
    },
    entries: [{ id: 'counts', emit_logs: true }],
  });
  t.teardown(close);
  const asked = [{}, { signal: true }, { timer: true }, { expires: true }, { signal: true, timer: true }, {}];
  for (const [index, params] of asked.entries()) {
    t.match((await call('counts', params)).body, { data: index + 1, metadata: { logs: [] } }, JSON.stringify(params));
  }
});

t.test('when the client leaves, a waiting call ends and one with an effect runs on', async (t) => {
  const leaving = new AbortController();
  const waiting = call('waits', {}, {}, leaving.signal);
  await eventually(
    () => host.status().running,
    (running) => running === 1,
  );
  leaving.abort();
  t.match(await waiting, { status: 499, body: { data: { code: 'CANCELED' } } });

  const left = new AbortController();
  const sending = call('sends', {}, {}, left.signal);
  await eventually(
    () => services.sent.length,
    (sent) => sent === 1,
  );
  left.abort();
  t.match(await sending, { status: 200, body: { data: 'both' } });
  t.equal(services.sent.length, 2);
});
