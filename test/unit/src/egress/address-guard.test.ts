// Threat: a URL from an operator or attacker leads the service to a cloud metadata service or into the private network:
// by a disguised IP address, by a name that resolves there, or by a name that changes between check and connection.
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { BlockedAddressError, createAddressGuard } from '../../../../src/egress/address-guard.ts';
import { createRpcHttp, type RpcAddressPolicy } from '../../../../src/egress/rpc/rpc-http.ts';
import { createSignerHttp } from '../../../../src/egress/signer-http.ts';

const open = createAddressGuard({ allowedHosts: [], blockPrivate: false });
const strict = createAddressGuard({ allowedHosts: [], blockPrivate: true });
const refuses = (guard: typeof open, url: string): boolean => {
  try {
    guard.checkUrl(new URL(url));
    return false;
  } catch (error) {
    if (error instanceof BlockedAddressError) return true;
    throw error;
  }
};

t.test('metadata services, link-local and unspecified addresses are refused under every policy', async (t) => {
  for (const url of [
    'http://169.254.169.254/latest',
    'http://[::ffff:169.254.169.254]',
    'http://[::169.254.169.254]',
    'http://[64:ff9b::a9fe:a9fe]',
    'http://[2002:a9fe:a9fe::]',
    'http://2852039166',
    'http://0xa9.0xfe.0xa9.0xfe',
    'http://0251.0376.0251.0376',
    'http://[fd00:ec2::254]',
    'http://[fd00:ec2::253]',
    'http://[fd00:ec2:0:1::7]',
    'http://[fd00:ec2:ffff:ffff:ffff:ffff:ffff:ffff]',
    'http://[fd20:ce::254]',
    'http://100.100.100.200',
    'http://168.63.129.16',
    'http://metadata.google.internal',
    'http://METADATA.google.internal.',
    'http://0.0.0.0',
    'http://0.1.2.3',
    'http://[::]',
    'http://[fe80::1]',
    'http://224.0.0.1',
    'http://255.255.255.255',
    'ftp://example.com',
  ]) {
    t.ok(refuses(open, url), url);
    t.ok(refuses(strict, url), url);
  }
});

t.test('private addresses are refused when the policy says so, in whatever disguise', async (t) => {
  for (const url of [
    'http://127.0.0.1:8545',
    'http://2130706433',
    'http://0x7f.1',
    'http://0177.0.0.1',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
    'http://[::7f00:1]',
    'http://10.1.2.3',
    'http://172.16.0.1',
    'http://192.168.1.1',
    'http://100.64.0.1',
    'http://[fc00::1]',
    'http://[fd00:ec3::254]',
    'http://[fec0::1]',
    'http://[2001::1]',
    'http://localhost',
    'http://localhost.',
    'http://api.localhost',
    'http://db.internal',
  ]) {
    t.ok(refuses(strict, url), url);
    t.notOk(refuses(open, url), url);
  }
  for (const url of [
    'https://8.8.8.8',
    'https://[2606:4700::1111]',
    'https://example.com',
    'https://internal.example',
  ]) {
    t.notOk(refuses(strict, url), url);
  }
});

t.test('with a list of hosts every other one is refused', async (t) => {
  const guard = createAddressGuard({ allowedHosts: ['RPC.example.com', '::1'], blockPrivate: false });
  t.notOk(refuses(guard, 'https://rpc.example.com./v3/key'));
  t.notOk(refuses(guard, 'http://[::1]:8545'));
  t.ok(refuses(guard, 'https://rpc.example.com.evil.org'));
  t.throws(() => guard.checkHost('other.example.com'), {
    message: 'other.example.com is refused: the host is not among the allowed ones',
  });
});

t.test('what only a private address is refused for says what would let it pass', async (t) => {
  const guard = createAddressGuard({ allowedHosts: [], blockPrivate: true, privateAdvice: 'ask the operator' });
  t.throws(() => guard.checkHost('10.0.0.1'), {
    message: '10.0.0.1 is refused: a private address; ask the operator',
    isPrivate: true,
  });
  t.throws(() => guard.checkHost('169.254.169.254'), {
    message: '169.254.169.254 is refused: a link-local address',
    isPrivate: false,
  });
});

t.test('a name is judged by every address that it resolves to, and only those are connected to', async (t) => {
  const resolving = (addresses: LookupAddress[]) =>
    createAddressGuard({ allowedHosts: [], blockPrivate: true }, (_host, _options, callback) =>
      callback(null, addresses),
    );
  const lookup = (guard: typeof open, all: boolean) =>
    new Promise<unknown>((resolve) => {
      guard.lookup('rpc.example.com', { all }, (error, address) => resolve(error ?? address));
    });

  const good = { address: '93.184.216.34', family: 4 };
  t.same(await lookup(resolving([good]), true), [good]);
  t.equal(await lookup(resolving([good]), false), good.address);
  t.match(await lookup(resolving([good, { address: '127.0.0.1', family: 4 }]), true), {
    name: 'BlockedAddressError',
    message: 'rpc.example.com is refused: 127.0.0.1 is a loopback address',
  });
  t.match(await lookup(resolving([{ address: 'fe80::1%eth0', family: 6 }]), true), { name: 'BlockedAddressError' });
  t.match(await lookup(resolving([{ address: 'nonsense', family: 4 }]), true), { name: 'BlockedAddressError' });
  t.match(await lookup(resolving([]), true), { code: 'ENOTFOUND' });

  const failing = createAddressGuard({ allowedHosts: [], blockPrivate: false }, (_host, _options, callback) =>
    callback(Object.assign(new Error('no such host'), { code: 'ENOTFOUND' })),
  );
  t.match(await lookup(failing, false), { code: 'ENOTFOUND', message: 'no such host' });
});

t.test('the system resolver answers where no test brings its own', async (t) => {
  const blocked = await new Promise<Error | null>((resolve) => {
    strict.lookup('localhost', { all: true }, (error) => resolve(error));
  });
  t.match(blocked, { name: 'BlockedAddressError', message: /loopback/ });
  const unknown = await new Promise<Error | null>((resolve) => {
    open.lookup('no-such-host.invalid', { all: true }, (error) => resolve(error));
  });
  t.match(unknown, { code: /^E/ }, 'a name that nobody knows is a failure, not the end of the process');
});

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

// Threat: an API client gives a relayer endpoints in the private network, and reads their answers through /rpc.
t.test('rpc http', async (t) => {
  /** Starts a server on loopback and resolves with its URL. */
  async function node(t: Test): Promise<string> {
    const server = createServer((_, response) => response.end('{"result":"told"}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => new Promise((resolve) => server.close(resolve)));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  function open(t: Test, policy: Partial<RpcAddressPolicy>) {
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
    t.throws(() => check('http://10.0.0.1'), {
      message: '10.0.0.1 is refused: the host is not among the allowed ones',
    });
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
});
