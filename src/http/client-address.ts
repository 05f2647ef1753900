import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Returns the name under which requests from an address are counted. An IPv6 address is cut to its first 64 bits,
 * because one customer is given a whole /64 (RFC 6177). Without the cut a customer would have 2^64 buckets. An IPv4
 * address in IPv6 form counts as the IPv4 address.
 */
export function subjectOfAddress(address: string): string {
  if (!isIPv6(address)) return `address ${address}`;
  const parsed = ipaddr.parse(address);
  if (!(parsed instanceof ipaddr.IPv6)) return `address ${address}`;
  if (parsed.isIPv4MappedAddress()) return `address ${parsed.toIPv4Address().toString()}`;
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `address ${network.join(':')}::/64`;
}
