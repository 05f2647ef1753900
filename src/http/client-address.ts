import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Who an address stands for, as a name for counting. Of IPv6 the first 64 bits, because that is what one customer is
 * given (RFC 6177): whoever has a /64 would otherwise have 2^64 buckets. An IPv4 address in IPv6 form is itself.
 */
export function subjectOfAddress(address: string): string {
  if (!isIPv6(address)) return `address ${address}`;
  const parsed = ipaddr.parse(address);
  if (!(parsed instanceof ipaddr.IPv6)) return `address ${address}`;
  if (parsed.isIPv4MappedAddress()) return `address ${parsed.toIPv4Address().toString()}`;
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `address ${network.join(':')}::/64`;
}
