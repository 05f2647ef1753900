// Threat: an API client gives a relayer endpoints in the private network, and reads their answers through /rpc.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { createRpcHttp, type RpcPolicy } from '../../../../../src/egress/rpc/rpc-http.ts';

/** Starts a server on loopback and resolves with its URL. */
async function node(t: Test): Promise<string> {
  const server = createServer((_, response) => response.end('{"result":"told"}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function open(t: Test, policy: Partial<RpcPolicy>) {
  const http = createRpcHttp({ allowedHosts: [], blockPrivate: false, declared: [], ...policy });
  t.teardown(() => http.close());
  const ask = async (url: string) => {
    const request = { headers: {}, body: '{}', timeoutMs: 10_000, maxBytes: 1_000 };
    return (await http.post(new URL(url), request)).body.toString();
  };
  return { ...http, ask, check: (url: string) => http.checkUrl(new URL(url)) };
}

const REFUSED =
  '127.0.0.1 is refused: a loopback address; declare the endpoint in the configuration, or name its host in RPC_ALLOWED_HOSTS';

t.test('inside are only the servers that the operator declared', async (t) => {
  const [declared, other] = [await node(t), await node(t)];
  const { ask, check } = open(t, { declared: [{ url: `${declared}/v3/key`, weight: 1 }] });
  t.equal(await ask(`${declared}/another/path`), '{"result":"told"}');
  check(declared);
  await t.rejects(ask(other), { name: 'HttpFailure', kind: 'blocked', message: REFUSED });
  t.throws(() => check(other), { name: 'BlockedAddressError', message: REFUSED });
  check('https://rpc.example.com');
});

t.test('what it declares later takes the place of what it declared before', async (t) => {
  const [first, second] = [await node(t), await node(t)];
  const { declare, ask, check } = open(t, { declared: [{ url: first, weight: 1 }] });
  declare([{ url: `${second}/v3`, weight: 1 }]);
  t.equal(await ask(second), '{"result":"told"}');
  t.throws(() => check(first), { message: REFUSED });
});

t.test('or the hosts that it allowed', async (t) => {
  const url = await node(t);
  const { ask, check } = open(t, { allowedHosts: ['127.0.0.1', 'RPC.example.com'] });
  t.equal(await ask(url), '{"result":"told"}');
  check('https://rpc.example.com.');
  t.throws(() => check('http://10.0.0.1'), { message: '10.0.0.1 is refused: the host is not among the allowed ones' });
});

t.test('a name that leads inside is refused when it is called', async (t) => {
  const { port } = new URL(await node(t));
  await t.rejects(open(t, {}).ask(`http://localhost:${port}`), { kind: 'blocked', message: /RPC_ALLOWED_HOSTS/ });
});

t.test('where all private addresses are blocked, a declared one is too', async (t) => {
  const url = await node(t);
  const { check } = open(t, { blockPrivate: true, declared: [{ url, weight: 1 }] });
  t.throws(() => check(url), { message: '127.0.0.1 is refused: a loopback address' });
  for (const declared of [[], [{ url: 'http://169.254.169.254', weight: 1 }]]) {
    t.throws(() => open(t, { declared }).check('http://169.254.169.254'), { message: /link-local address$/ });
  }
});
