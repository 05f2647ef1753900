/**
 * Threat: a plugin looks for things that it was not given: the server's environment, files, sockets, the caller's key,
 * another plugin's data. Each probe runs as a plugin of a real server, and reports what it found.
 */
import t from 'tap';
import { composeService } from '../support/composed-service.ts';
import { createWorkspace } from '../support/workspace.ts';

const CANARY = 'canary-7f3a-that-no-plugin-may-see';

/** By name: a probe that returns what it found, and the result that is harmless. */
const PROBES: Record<string, { source: string; nothing: unknown }> = {
  environment: {
    source: `() => JSON.stringify(process.env)`,
    nothing: '{}',
  },
  'environment-by-name': {
    source: `() => [process.env.API_KEY, process.env.KEYSTORE_PASSPHRASE, process.env.PATH]`,
    nothing: [null, null, null],
  },
  require: {
    source: `() => [typeof globalThis.require, typeof process.getBuiltinModule, typeof process.binding, typeof process.dlopen, typeof process.mainModule]`,
    nothing: ['undefined', 'undefined', 'undefined', 'undefined', 'undefined'],
  },
  'require-call': {
    source: `() => ['fs', 'node:child_process', '/etc/passwd'].map((name) => {
      try { return typeof require(name); } catch { return 'refused'; }
    })`,
    nothing: ['refused', 'refused', 'refused'],
  },
  'dynamic-import': {
    source: `async () => {
      const found = [];
      for (const name of ['node:fs', 'fs', 'node:child_process', 'node:net', './hello.ts', '/etc/passwd']) {
        try { await new Function('name', 'return import(name)')(name); found.push(name); } catch {}
      }
      return found;
    }`,
    nothing: [],
  },
  sockets: {
    source: `() => ['WebSocket', 'XMLHttpRequest', 'EventSource', 'Deno', 'Bun'].filter((name) => name in globalThis && globalThis[name] !== undefined)`,
    nothing: [],
  },
  fetch: {
    source: `async () => {
      const reached = [];
      for (const url of ['http://127.0.0.1:8080/health', 'http://169.254.169.254/', 'https://example.com/', 'file:///etc/passwd']) {
        try { await fetch(url); reached.push(url); } catch (error) { if (!(error instanceof TypeError)) reached.push(String(error)); }
      }
      return reached;
    }`,
    nothing: [],
  },
  'removed-globals': {
    source: `() => ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry'].filter((name) => name in globalThis)`,
    nothing: [],
  },
  'callers-token': {
    source: `(context) => {
      const seen = JSON.stringify([context.headers, context.query, context.caller, context.params]);
      return [Object.keys(context.headers).includes('authorization'), seen.includes('${CANARY}')];
    }`,
    nothing: [false, false],
  },
  'host-through-constructors': {
    source: `(context) => {
      const found = [];
      for (const start of [context.api.useRelayer, context.kv.get, console.log, setTimeout, crypto.getRandomValues, URL, TextEncoder]) {
        try {
          const F = start.constructor.constructor ?? start.constructor;
          const outer = F('return typeof process === "object" && (process.kill || process.binding || process.mainModule) ? "host" : "guest"')();
          if (outer !== 'guest') found.push(String(start));
        } catch {}
      }
      return found;
    }`,
    nothing: [],
  },
};

const probes = Object.entries(PROBES).map(([id, { source }]) => `  '${id}': ${source},`);

t.test('a curious plugin gets nothing', async (t) => {
  const workspace = await createWorkspace({
    pluginFiles: {
      'probes.ts': `const probes = {\n${probes.join('\n')}\n};
export const handler = (context) => probes[context.params.probe](context);`,
      'keeper.ts': `export const handler = ({ kv }) => kv.set('secret', 'mine');`,
      'thief.ts': `export const handler = async ({ kv, api }) => {
        const got = [await kv.get('secret')];
        for (const key of ['keeper:secret', '../keeper/secret', 'plugin_kv:{keeper}:data:secret']) {
          try { got.push(await kv.get(key)); } catch (error) { got.push(error.message); }
        }
        return got;
      };`,
      'no-kv.ts': `export const handler = async ({ kv }) => { try { await kv.get('x'); return 'allowed'; } catch (error) { return error.message; } };`,
      'echo.ts': `export const handler = ({ params, route, query }) => ({ params, route, query });`,
    },
    plugins: [{ id: 'no-kv', path: 'no-kv.ts', permissions: {} }],
    env: { API_KEY: `${CANARY}-as-the-api-key-of-this-server` },
  });
  t.teardown(() => workspace.remove());
  // This process starts the plugins' processes. So put into its environment what they must not inherit.
  for (const name of ['CANARY', 'API_KEY', 'KEYSTORE_PASSPHRASE']) {
    process.env[name] = CANARY;
    t.teardown(() => delete process.env[name]);
  }
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());

  for (const [id, { nothing }] of Object.entries(PROBES)) {
    const answer = await service.call('probes', { probe: id });
    t.equal(answer.status, 200, `${id}: ${JSON.stringify(answer.body)}`);
    t.same(answer.body.data, nothing, `${id}: finds nothing`);
  }

  t.equal((await service.call('keeper')).body.data, true);
  t.same(
    (await service.call('thief')).body.data,
    [null, null, 'invalid key', 'invalid key'],
    'another plugin’s data stays its own',
  );
  t.match((await service.call('no-kv')).body.data, /no-kv.*kv.*permissions/, 'a refusal names the line to add');

  const nasty = '"});process.exit(1);//\u2028</script>`${1}';
  const answer = await service.request('POST', `/api/v1/plugins/echo/call/${encodeURIComponent(nasty)}`, {
    params: { [nasty]: nasty, __proto__: { polluted: true } },
  });
  t.equal(answer.status, 200, 'code in the path and the parameters');
  t.equal(answer.body.data.route, `/${nasty}`, 'stays text');
  t.equal(answer.body.data.params[nasty], nasty);
  t.notMatch(service.output(), CANARY, 'and the server’s log says nothing of the key');
});
