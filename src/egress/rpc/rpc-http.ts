import type { RpcUrl } from '../../domain/relayer/relayer.ts';
import { type AddressGuard, type AddressPolicy, canonicalHost, createAddressGuard } from '../address-guard.ts';
import { createHttpClient, type HttpClient } from '../http-client.ts';

/** Whom RPC calls may reach. */
export interface RpcPolicy extends AddressPolicy {
  /** The endpoints in the operator's files. */
  declared: readonly RpcUrl[];
}

/** The way to nodes, and the judge of their addresses. */
export interface RpcHttp extends HttpClient, Pick<AddressGuard, 'checkUrl'> {
  /** Goes by other endpoints of the operator's files from now on. */
  declare(declared: readonly RpcUrl[]): void;
}

const ADVICE = 'declare the endpoint in the configuration, or name its host in RPC_ALLOWED_HOSTS';

/**
 * Opens the connections to nodes. What the operator has named, as the server of a declared endpoint or as an allowed
 * host, may lie inside unless the policy blocks that. All others came over the API, from who is trusted less, and stay
 * outside; their connections are never shared, so that what was opened under one guard is not used past the other.
 */
export function createRpcHttp({ declared, ...policy }: RpcPolicy): RpcHttp {
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
