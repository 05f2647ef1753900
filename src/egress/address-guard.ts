import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js';

/** Which hosts the service may call for one purpose (RPC, webhooks, a plugin's fetch). */
export interface AddressPolicy {
  /** Exact host names, in any case; empty allows every host. */
  allowedHosts: readonly string[];
  /** Refuses loopback, private, carrier-grade and unique-local addresses, and the names that stand for them. */
  blockPrivate: boolean;
  /** Tells, for the message, what would let a private address pass. */
  privateAdvice?: string;
}

/**
 * Checks the address that a connection is really made to. Names are resolved here, every address is checked, and
 * connections go to checked addresses only. So a name that changes its address between check and use gains nothing.
 */
export interface AddressGuard {
  /**
   * Checks a URL without resolving its host.
   * @throws BlockedAddressError
   */
  checkUrl(url: URL): void;
  /**
   * Checks a host as it stands in a URL: a name, or an address with or without brackets.
   * @throws BlockedAddressError
   */
  checkHost(host: string): void;
  /** For `net.connect` and `tls.connect`; fails with {@link BlockedAddressError} when any address is refused. */
  readonly lookup: LookupFunction;
}

/** The address guard refused a connection, and nothing was sent. The message names host and reason only. */
export class BlockedAddressError extends Error {
  /** True if a policy without `blockPrivate` would let the address pass; false if no policy would. */
  readonly isPrivate: boolean;

  constructor(host: string, reason: string, isPrivate = false) {
    super(`${host} is refused: ${reason}`);
    this.name = 'BlockedAddressError';
    this.isPrivate = isPrivate;
  }
}

/** The policy that allows the most. */
const OPEN: AddressPolicy = { allowedHosts: [], blockPrivate: false };

type Resolve = (
  host: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses?: LookupAddress[]) => void,
) => void;

/** Guards connections by a policy; `resolve` is the system's resolver unless a test brings its own. */
export function createAddressGuard(policy: AddressPolicy, resolve: Resolve = systemLookup): AddressGuard {
  const allowedHosts = new Set(policy.allowedHosts.map(canonicalHost));

  function checkHost(host: string): void {
    const name = canonicalHost(host);
    if (allowedHosts.size > 0 && !allowedHosts.has(name)) {
      throw new BlockedAddressError(host, 'the host is not among the allowed ones');
    }
    const refusal = judge(name, ipaddr.isValid(name) ? refusalOf : nameRefusal, policy);
    if (refusal !== undefined) throw new BlockedAddressError(host, refusal.reason, refusal.isPrivate);
  }

  return {
    checkHost,
    checkUrl(url) {
      if (url.protocol !== 'http:' && url.protocol !== 'https:') {
        throw new BlockedAddressError(url.host, 'only http and https are spoken');
      }
      checkHost(url.hostname);
    },
    lookup(host, options, callback) {
      // With an error, Node's resolver gives no list at all, whatever its type says. An exception here would end the
      // process.
      const judged = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[] = []) => {
        const failure = error ?? judgeAll(host, addresses, policy);
        const [first] = addresses;
        if (failure !== undefined || first === undefined) callback(failure ?? noAddress(host), [], 0);
        else if (options.all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      };
      resolve(host, { ...options, all: true }, judged);
    },
  };
}

function judgeAll(
  host: string,
  addresses: readonly LookupAddress[],
  policy: AddressPolicy,
): BlockedAddressError | undefined {
  for (const { address } of addresses) {
    const refusal = judge(address, refusalOf, policy);
    if (refusal !== undefined) {
      return new BlockedAddressError(host, `${address} is ${refusal.reason}`, refusal.isPrivate);
    }
  }
  return undefined;
}

function judge(
  target: string,
  by: (target: string, policy: AddressPolicy) => string | undefined,
  policy: AddressPolicy,
): { reason: string; isPrivate: boolean } | undefined {
  const reason = by(target, policy);
  if (reason === undefined) return undefined;
  const isPrivate = by(target, OPEN) === undefined;
  const { privateAdvice: advice } = policy;
  return { reason: isPrivate && advice !== undefined ? `${reason}; ${advice}` : reason, isPrivate };
}

function noAddress(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' });
}

/** The form in which hosts are compared: lower case, without brackets and without the dot of the root. */
export function canonicalHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.+$/, '');
}

function nameRefusal(name: string, policy: AddressPolicy): string | undefined {
  if (name === 'metadata.google.internal') return 'a cloud metadata service';
  if (policy.blockPrivate && /(^|\.)(localhost|internal)$/.test(name)) return 'a private name';
  return undefined;
}

/** Metadata services that no address range reveals: Google over IPv6, Alibaba, Azure, Oracle. */
const METADATA = new Set(['fd20:ce::254', '100.100.100.200', '168.63.129.16', '192.0.0.192']);

/** Amazon's services of an instance over IPv6: metadata (`::254`), names (`::253`), time (`::123`). */
const AMAZON = ipaddr.IPv6.parseCIDR('fd00:ec2::/32');

const NEVER = new Set(['unspecified', 'linkLocal', 'multicast', 'broadcast']);

function refusalOf(address: string, policy: AddressPolicy): string | undefined {
  if (!ipaddr.isValid(address)) return 'not an address';
  const inner = unwrap(ipaddr.parse(address));
  const range = inner.range();
  if (METADATA.has(inner.toString()) || (isIPv6(inner) && inner.match(AMAZON))) return 'a cloud metadata service';
  if (NEVER.has(range)) return `a ${range === 'linkLocal' ? 'link-local' : range} address`;
  // Any range that is neither named above nor plain unicast is private, reserved or a tunnel with an unknown other end.
  if (policy.blockPrivate && range !== 'unicast') return `a ${range} address`;
  return undefined;
}

/** The IPv4 address inside an IPv6 one, where a translator or the kernel would take it out. */
function unwrap(address: IPv4 | IPv6): IPv4 | IPv6 {
  if (!isIPv6(address)) return address;
  const bytes = address.toByteArray();
  const range: string = address.range();
  if (range === '6to4') return fromBytes(bytes.slice(2, 6));
  if (range === 'ipv4Mapped' || range === 'rfc6052' || range === 'rfc6145') return fromBytes(bytes.slice(12));
  // ::a.b.c.d, deprecated by RFC 4291 section 2.5.5.1; ::1 and :: are IPv6 addresses of their own.
  const isCompatible = bytes.slice(0, 12).every((byte) => byte === 0) && range === 'unicast';
  return isCompatible ? fromBytes(bytes.slice(12)) : address;
}

function isIPv6(address: IPv4 | IPv6): address is IPv6 {
  return address.kind() === 'ipv6';
}

function fromBytes(bytes: number[]): IPv4 | IPv6 {
  return ipaddr.fromByteArray(bytes);
}
