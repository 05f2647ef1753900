import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createSignerHttp } from '../../../../src/egress/signer-http.ts';

t.test('a service that holds keys may lie inside', async (t) => {
  const server = createServer((_request, response) => response.end('signed')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const http = createSignerHttp();
  t.teardown(async () => {
    await http.close();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const answer = await http.post(url, { body: '{}', headers: {}, timeoutMs: 10_000, maxBytes: 100 });
  t.equal(answer.body.toString(), 'signed');
});

t.test('one that a client names may not', async (t) => {
  const http = createSignerHttp('made by a client');
  t.teardown(() => http.close());
  const url = new URL('http://127.0.0.1:1/');
  t.throws(() => http.checkUrl(url), {
    name: 'BlockedAddressError',
    message: '127.0.0.1 is refused: a loopback address; declare the signer in the configuration',
  });
  const request = { body: '{}', headers: {}, timeoutMs: 10_000, maxBytes: 100 };
  await t.rejects(http.post(url, request), { message: /is refused: a loopback address/ });
  createSignerHttp().checkUrl(url);
  // Nobody names the machine's own metadata service: the identity client alone asks it, by the environment.
  for (const made of [http, createSignerHttp()]) {
    t.throws(() => made.checkUrl(new URL('http://169.254.169.254/')), { message: /link-local/ });
  }
});

t.test('metadata services have nothing for it', async (t) => {
  const http = createSignerHttp();
  t.teardown(() => http.close());
  for (const url of ['http://metadata.google.internal/', 'http://169.254.169.253/', 'http://[fd00:ec2::254]/']) {
    const asked = http.get(new URL(url), { headers: {}, timeoutMs: 10_000, maxBytes: 100 });
    await t.rejects(asked, { name: 'HttpFailure', message: /is refused/ });
  }
});
