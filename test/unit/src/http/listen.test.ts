import { fastify } from 'fastify';
import t, { type Test } from 'tap';
import { listenOn } from '../../../../src/http/listen.ts';

function app(t: Test) {
  const server = fastify();
  t.teardown(() => server.close());
  return server;
}

t.test('resolves with the URL of the port that it got', async (t) => {
  const url = await listenOn(app(t), { host: '127.0.0.1', port: 0, variable: 'APP_PORT' });
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
});

t.test('a port that is taken names the variable to change', async (t) => {
  const taken = Number(new URL(await listenOn(app(t), { host: '127.0.0.1', port: 0, variable: 'APP_PORT' })).port);
  const message = `Cannot listen on 127.0.0.1 port ${taken}: another program has it. METRICS_PORT chooses the port, HOST the address`;
  await t.rejects(listenOn(app(t), { host: '127.0.0.1', port: taken, variable: 'METRICS_PORT' }), { message });
});

t.test('so does an address that this machine does not have', async (t) => {
  const message = /^Cannot listen on 192\.0\.2\.1 port 0: .*HOST the address$/;
  await t.rejects(listenOn(app(t), { host: '192.0.2.1', port: 0, variable: 'APP_PORT' }), { message });
});
