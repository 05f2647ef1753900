import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { Agent, request as ask } from 'undici';
import { BlockedAddressError, createAddressGuard } from '../../../../src/egress/address-guard.ts';
import { guardedConnector } from '../../../../src/egress/guarded-connector.ts';

t.test('connects to what the guard lets through, and to nothing else', async (t) => {
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.end('here');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;

  for (const [blockPrivate, hosts] of [
    [false, ['127.0.0.1', 'localhost']],
    [true, ['127.0.0.1', 'localhost', '[::1]', '2130706433']],
  ] as const) {
    const guard = createAddressGuard({ allowedHosts: [], blockPrivate });
    const agent = new Agent({ connect: guardedConnector(guard, { timeout: 2_000 }) });
    t.teardown(() => agent.close());
    for (const host of hosts) {
      const answer = ask(`http://${host}:${port}/`, { dispatcher: agent });
      if (blockPrivate) await t.rejects(answer, BlockedAddressError, host);
      else t.equal(await (await answer).body.text(), 'here', host);
    }
  }
  t.equal(asked, 2, 'a refused connection reached nobody');
});
