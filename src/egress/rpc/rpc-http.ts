import type { RpcUrl } from '../../features/relayers/records/relayer.ts';
import { type AddressGuard, type AddressPolicy, canonicalHost, createAddressGuard } from '../address-guard.ts';
import { createHttpClient, type HttpClient } from '../http-client.ts';

/** Which hosts RPC calls may reach. */
export interface RpcAddressPolicy extends AddressPolicy {
  /** The endpoints in the operator's files. */
  declared: readonly RpcUrl[];
}

/** The HTTP client for nodes, with the check of their addresses. */
export interface RpcHttp extends HttpClient, Pick<AddressGuard, 'checkUrl'> {
  /** Replaces the endpoints of the operator's files from now on. */
  declare(declared: readonly RpcUrl[]): void;
}

const ADVICE = 'declare the endpoint in the configuration, or name its host in RPC_ALLOWED_HOSTS';

/**
 * Opens the connections to nodes. The operator names hosts as servers of declared endpoints or as allowed hosts. These
 * may have private addresses unless the policy blocks that. All other hosts came over the API, from clients that are
 * trusted less, and must have public addresses. The two groups never share a connection. So a connection that was
 * opened under one guard does not get past the other.
 */
export function createRpcHttp({ declared, ...policy }: RpcAddressPolicy): RpcHttp {
  let origins = originsOf(declared);
  const hosts = new Set(policy.allowedHosts.map(canonicalHost));
  const named = wayUnder(policy);
  const others = wayUnder({ ...policy, blockPrivate: true, privateAdvice: ADVICE });
  const wayTo = (url: URL) => (origins.has(url.origin) || hosts.has(canonicalHost(url.hostname)) ? named : others);

  return {
    declare(urls) {
      origins = originsOf(urls);
    },
    checkUrl: (url) => wayTo(url).guard.checkUrl(url),
    post: (url, request) => wayTo(url).http.post(url, request),
    get: (url, request) => wayTo(url).http.get(url, request),
    async close() {
      await Promise.all([named.http.close(), others.http.close()]);
    },
  };
}

function originsOf(declared: readonly RpcUrl[]): ReadonlySet<string> {
  return new Set(declared.map(({ url }) => new URL(url).origin));
}

function wayUnder(policy: AddressPolicy): { guard: AddressGuard; http: HttpClient } {
  const guard = createAddressGuard(policy);
  return { guard, http: createHttpClient(guard) };
}
