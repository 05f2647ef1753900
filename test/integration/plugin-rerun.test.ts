/**
 * Threat: a call that kills its process also ends the other calls in it. On the real server, calls without effects run
 * again and get their answers. Calls with effects do not run again, unless their request has an idempotency key. Then
 * the new run hears what the first one heard, and repeats none of its effects.
 */
import t from 'tap';
import { composeService } from '../support/composed-service.ts';
import { eventually } from '../support/eventually.ts';
import { hostileHttp, plain } from '../support/hostile-http.ts';
import type { AnswerBody } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

/** Reports that it runs, does what it is told, and stays until the gate opens. A GET does not count as an effect. */
const PLUGIN = `
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export async function handler({ params, kv }) {
  const { base, name, does } = params;
  if (does === 'kill') { let s = 'ab'; while (s.length < 2 ** 28) s += s; return s.split('').length; }
  let said = null;
  if (does === 'kv') await kv.set('set-' + name, name);
  if (does === 'post') said = await (await fetch(base + '/post?' + name, { method: 'POST', body: name })).text();
  if (does === 'hang') said = await (await fetch(base + '/hang?' + name, { method: 'POST', body: name })).text();
  const stay = async () => {
    await fetch(base + '/here?' + name);
    while ((await (await fetch(base + '/gate')).text()) !== 'open') await pause(100);
  };
  if (does === 'lock') await kv.withLock('lock-' + name, stay, { ttlSec: 600 });
  else await stay();
  return { name, said };
}`;

const HARMLESS = 8;

t.test('N waiting calls and a killer', { timeout: 55_000 }, async (t) => {
  let gate = 'closed';
  let posts = 0;
  const server = await hostileHttp(t, {
    '/here': (_request, socket) => socket.write(plain('yes')),
    '/gate': (_request, socket) => socket.write(plain(gate)),
    '/post': (_request, socket) => {
      posts += 1;
      socket.write(plain(`post ${posts}`));
    },
    '/hang': () => undefined,
  });
  const workspace = await createWorkspace({
    pluginFiles: { 'stays.ts': PLUGIN },
    plugins: [
      {
        id: 'stays',
        path: 'stays.ts',
        permissions: { kv: true, hosts: [{ host: server.host, private: true }] },
        // Wide limits, because the machine may have other work.
        limits: { slice_ms: 10_000, cpu_ms: 20_000 },
      },
    ],
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000' },
  });
  t.teardown(() => workspace.remove());
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  const base = `http://${server.host}`;
  const call = async (name: string, does: string, key?: string) => {
    const response = await fetch(`${service.url}/api/v1/plugins/stays/call`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.apiKey}`,
        'content-type': 'application/json',
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      body: JSON.stringify({ params: { base, name, does } }),
    });
    return { status: response.status, body: (await response.json()) as AnswerBody };
  };
  /** How often the server has seen this request. */
  const seen = (path: string, name: string) =>
    server.seen.filter(({ line }) => line.includes(` ${path}?${name} `)).length;

  const harmless = Array.from({ length: HARMLESS }, (_, number) => call(`harmless${number}`, 'nothing'));
  const effects = ['kv', 'post', 'lock'].map((does) => [does, call(`bare-${does}`, does)] as const);
  const keyed = ['kv', 'post', 'nothing', 'lock'].map(
    (does) => [does, call(`keyed-${does}`, does, `key-of-${does}`)] as const,
  );
  const hanging = call('keyed-hang', 'hang', 'key-of-hang');
  const all = [
    ...Array.from({ length: HARMLESS }, (_, number) => `harmless${number}`),
    ...effects.map(([does]) => `bare-${does}`),
    ...keyed.map(([does]) => `keyed-${does}`),
  ];
  await eventually(
    () => all.filter((name) => seen('/here', name) === 0).length + (1 - seen('/hang', 'keyed-hang')),
    (missing) => missing === 0,
    30_000,
  );
  t.same(
    all.filter((name) => seen('/here', name) !== 1),
    [],
    'all are there, once',
  );

  t.match((await call('killer', 'kill')).body.data.code, /^(MEMORY|CPU)_LIMIT$/);
  gate = 'open';

  for (const [number, answer] of (await Promise.all(harmless)).entries()) {
    t.match(answer, { status: 200, body: { data: { name: `harmless${number}` } } });
    t.equal(seen('/here', `harmless${number}`), 2, 'it ran again, once');
  }
  for (const [does, answer] of effects) {
    t.match(await answer, { status: 503, body: { data: { code: 'SANDBOX_LOST' } } }, does);
    t.equal(seen('/here', `bare-${does}`), 1, `${does} did not run again`);
  }
  for (const [does, answer] of keyed) {
    t.match(await answer, { status: 200, body: { data: { name: `keyed-${does}` } } }, `${does} under a key`);
    t.equal(seen('/here', `keyed-${does}`), 1, `${does} under a key heard again what it had heard`);
  }
  t.equal(seen('/post', 'bare-post'), 1, 'nothing was posted twice');
  t.equal(seen('/post', 'keyed-post'), 1, 'under a key neither');
  const first = (await keyed.find(([does]) => does === 'post')?.[1])?.body.data.said;
  t.match(first, /^post [12]$/, 'the second run read what the first one was answered');
  const repeat = await call('keyed-post', 'post', 'key-of-post');
  t.same(repeat.body.data.said, first, 'as does a repeat of the request');
  t.equal(posts, 2);

  const unknown = await hanging;
  t.ok(unknown.status >= 400, 'nobody knows what became of a post without an answer');
  t.equal(seen('/hang', 'keyed-hang'), 1, 'so it is not made again');
  t.match(await call('bare-lock', 'lock'), { status: 200 }, 'the lock of a call that was lost is free');
});
