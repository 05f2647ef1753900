import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import t from 'tap';
import { z } from 'zod';
import { type FakeRelayer, relayerOfService } from '../../../../src/cli/testing/fake-relayer.ts';
import { FakeServices } from '../../../../src/cli/testing/fake-services.ts';
import { openSandbox } from '../../../../src/cli/testing/sandbox.ts';
import type { Json } from '../../../../src/domain/json/json.ts';
import { defineCapability } from '../../../../src/features/plugins/host/capabilities/capability.ts';
import { NO_PLUGIN_HTTP } from '../../../support/no-plugin-http.ts';
import { principalOf } from '../../../support/principal.ts';

t.test('a plugin runs as it would in the service, before what a test gives it', { timeout: 60_000 }, async (t) => {
  const folder = t.testdir({
    'all.ts': `
      export async function handler({ api, kv, params, route, headers, query, method }) {
        console.info('called');
        if (route === '/fetch') return (await fetch('https://api.example/x', { method: 'POST', body: 'b' })).text();
        if (route === '/fail') throw Object.assign(new Error('no'), { status: 422, code: 'NO' });
        const relayer = api.useRelayer('r');
        const sent = await relayer.sendTransaction({ to: 'x' });
        await kv.set('a', { n: 1 });
        return [params, headers['x-a'], query.q, method, process.env.A, sent.id, (await sent.wait()).status, await kv.get('a')];
      }`,
  });
  const sandbox = await openSandbox({
    folder,
    env: { A: 'granted', B: 'not' },
    entries: [
      { id: 'all', permissions: { relayers: { r: ['send', 'read'] }, env: ['A'], hosts: ['api.example'], kv: true } },
    ],
    relayers: { r: {} },
    fetch: async (request) => new Response(`${request.method} ${await request.text()}`, { status: 201 }),
  });
  t.teardown(() => sandbox.close());
  const options = { params: [1], headers: { 'x-a': ['b'] }, query: { q: ['1'] } };
  const { status, body } = await sandbox.call('all', options);
  t.equal(status, 200, JSON.stringify(body));
  t.strictSame(body.data, [[1], ['b'], ['1'], 'POST', 'granted', 'tx-1', 'mined', { n: 1 }]);
  t.match(body.metadata.logs, [{ level: 'info', message: 'called' }]);
  t.strictSame(sandbox.sent, [{ relayerId: 'r', request: { to: 'x' } }]);
  t.strictSame(sandbox.values.get('a'), { n: 1 });
  t.equal((await sandbox.call('all', { route: '/fetch' })).body.data, 'POST b');
  t.match(await sandbox.call('all', { route: '/fail' }), { status: 422, body: { data: { code: 'NO' } } });
  t.type(sandbox.log(), 'string');
  t.match(await sandbox.call('nobody'), { status: 404, body: { success: false, error: /nobody/ } });
  t.match(await sandbox.call('all', { method: 'GET' }), { status: 405, body: { success: false } });
});

t.test('fake services', async (t) => {
  const caller = { pluginId: 'p', locks: [], quota: { keys: 1, bytes: 1, valueBytes: 1 } } as never;
  const { signal } = new AbortController();

  t.test('relayers answer as the test says, else as if all went well', async (t) => {
    let looks = 0;
    const fakes = new FakeServices({
      plain: {},
      slow: {
        info: { network_type: 'stellar' },
        status: { sequence_number: '7' },
        send: () => ({ status: 'sent' }),
        transaction: () => ({ status: ++looks < 3 ? 'sent' : 'confirmed' }),
        sign: (request) => ({ signature: JSON.stringify(request) }),
        rpc: (method, params) => [method, params],
      },
    });
    const { transactions, relayers, rpc, signing } = fakes.services(NO_PLUGIN_HTTP);
    t.match(await transactions.send('plain', { to: 'x' }), { id: 'tx-1', status: 'pending', relayer_id: 'plain' });
    t.match(await transactions.send('slow', {}), { id: 'tx-2', status: 'sent' });
    t.match(await transactions.get('plain', 'tx-1'), { id: 'tx-1', status: 'mined' });
    t.match(await transactions.wait('slow', 'tx-2', { intervalMs: 1, timeoutMs: 5000 }, signal), {
      status: 'confirmed',
    });
    looks = -1e9;
    t.equal(await transactions.wait('slow', 'tx-2', { intervalMs: 2, timeoutMs: 1 }, signal), undefined);
    t.match(await relayers.get('slow'), { id: 'slow', network_type: 'stellar', paused: false });
    t.match(await relayers.status('slow'), { network_type: 'stellar', sequence_number: '7' });
    t.match(await rpc.call('slow', { method: 'm', params: [1], id: 5 }), { id: 5, result: ['m', [1]] });
    t.match(await signing.signTransaction('slow', { a: 1 }), { signature: '{"a":1}' });
    await t.rejects(
      Promise.resolve().then(() => signing.signTransaction('plain', {})),
      { code: 'NOT_SUPPORTED' },
    );
    await t.rejects(
      Promise.resolve().then(() => relayers.get('other')),
      { code: 'RELAYER_NOT_FOUND' },
    );
    t.equal(fakes.sent.length, 2);
  });

  t.test('what else a relayer can is a function of its own name', async (t) => {
    const declared = defineCapability({
      method: 'relayer.getFee',
      needs: [],
      params: z.strictObject({ relayerId: z.string(), speed: z.string() }),
      result: z.string(),
      grant: ({ relayerId }) => ({ relayer: relayerId, right: 'read' }),
      effect: () => false,
      handle: () => Promise.reject(new Error('no service is asked')),
      failure: ({ message }) => message,
    });
    const relayers = { r: { getFee: (speed: string) => `fee of ${speed}` }, plain: {} } as Record<string, FakeRelayer>;
    const fakes = new FakeServices(relayers);
    const services = fakes.services(NO_PLUGIN_HTTP);
    const asked = fakes.capabilities(new Map([[declared.method, declared.bind(services)]])).get(declared.method);
    const ask = async (params: Json) => asked?.prepare(params).run(principalOf());
    t.equal(await ask({ relayerId: 'r', speed: 'fast' }), 'fee of fast');
    t.throws(() => asked?.prepare({ relayerId: 'r' }), z.ZodError);
    await t.rejects(ask({ relayerId: 'plain', speed: 'fast' }), {
      message: "the test's relayer plain has no function getFee",
    });
    await t.rejects(ask({ relayerId: 'other', speed: 'fast' }), { code: 'RELAYER_NOT_FOUND' });
  });

  t.test('values and locks are kept in memory', async (t) => {
    const { kv } = new FakeServices({}).services(NO_PLUGIN_HTTP);
    t.equal(await kv.get('p', 'a'), null);
    t.ok(await kv.set(caller, 'a', '{"n":1}'));
    await kv.set(caller, 'b', '2');
    t.equal(await kv.get('p', 'a'), '{"n":1}');
    t.strictSame(await kv.listKeys('p', '', 'a'), ['b']);
    t.ok(await kv.exists('p', 'b'));
    t.ok(await kv.del(caller, 'b'));
    await t.rejects(kv.set(caller, 'no key', '1'), /invalid key/);
    const lock = await kv.lock(caller, 'l', 1000, undefined, signal);
    t.equal(await kv.lock(caller, 'l', 1000, undefined, signal), null);
    t.ok(lock !== null && (await kv.unlock('p', lock)));
    t.equal(await kv.clear(caller, undefined, signal), 1);
  });

  t.test('what a relayer of a test throws is heard of', async (t) => {
    const fail = () => {
      throw new Error('out of money');
    };
    const fakes = new FakeServices({ r: { send: fail, rpc: fail, sign: fail, transaction: fail } });
    const { transactions, rpc, signing } = fakes.services({ fetch: fail, close: async () => {} }) as unknown as Record<
      string,
      Record<string, (id: string, body: unknown) => Promise<unknown>>
    >;
    for (const ask of [transactions?.['send'], transactions?.['get'], rpc?.['call'], signing?.['signTransaction']]) {
      await t.rejects(ask?.('r', { method: 'm' }) ?? Promise.resolve(), {
        code: 'INVALID_REQUEST',
        message: /out of money/,
      });
    }
  });
});

t.test('a relayer of a running service is asked over HTTP', async (t) => {
  const seen: unknown[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      seen.push([request.method, request.url, request.headers.authorization, body]);
      const isRpc = request.url?.endsWith('/rpc') === true;
      if (request.url?.includes('missing') === true) response.statusCode = 404;
      response.end(
        JSON.stringify(isRpc ? { jsonrpc: '2.0', result: '0x1' } : { data: { id: 't' }, error: 'not found' }),
      );
    });
  });
  t.teardown(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const relayer = relayerOfService('r 1', { url: `http://127.0.0.1:${port}`, key: 'k' });
  t.strictSame(await relayer.send?.({ to: 'x' }), { id: 't' });
  t.strictSame(await relayer.transaction?.('t'), { id: 't' });
  t.equal(await relayer.rpc?.('eth_chainId', []), '0x1');
  t.strictSame(await relayer.sign?.({ a: 1 }), { id: 't' });
  t.strictSame(seen[0], ['POST', '/api/v1/relayers/r%201/transactions', 'Bearer k', '{"to":"x"}']);
  t.match(seen[1], ['GET', '/api/v1/relayers/r%201/transactions/t']);
  await t.rejects(Promise.resolve(relayer.transaction?.('missing')), /not found/);
});

t.test('the kit is found from a folder that has no packages', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'isolayer-kit-'));
  t.teardown(() => rm(dir, { recursive: true, force: true }));
  const file = join(dir, 'asks.ts');
  await writeFile(
    file,
    `import { openSandbox } from 'isolayer/testing';
    import { type FakeRelayer, relayerOfService } from 'isolayer/testing/relayer';
    console.log(typeof openSandbox, typeof relayerOfService, await import('isolayer/other').catch(({ code }) => code));`,
  );
  const hook = new URL('../../../../src/cli/testing/resolve-kit.ts', import.meta.url).href;
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', hook, file]);
  t.equal(stdout, 'function function ERR_MODULE_NOT_FOUND\n');
});
