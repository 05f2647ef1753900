// Threat: a URL from an operator or attacker leads the service to a cloud metadata service or into the private network:
// by a disguised IP address, by a name that resolves there, or by a name that changes between check and connection.
import type { LookupAddress } from 'node:dns';
import t from 'tap';
import { BlockedAddressError, createAddressGuard } from '../../../../src/egress/address-guard.ts';

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
