import t from 'tap';
import { openSandbox } from '../../../../../src/cli/testing/sandbox.ts';

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
