import { lookup } from 'node:dns';
import { type AddressGuard, createAddressGuard } from './address-guard.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';

/** The HTTP client for services that hold keys, with the check of their addresses. */
export interface SignerHttp extends HttpClient, Pick<AddressGuard, 'checkUrl'> {}

/**
 * Services that the operator's files name may have private addresses. A client that makes a signer over the API is
 * trusted less: the service that it names must have a public address. No metadata service holds keys.
 */
export function createSignerHttp(signers: 'declared' | 'made by a client' = 'declared'): SignerHttp {
  const guard = createAddressGuard({
    allowedHosts: [],
    blockPrivate: signers !== 'declared',
    privateAdvice: 'declare the signer in the configuration',
  });
  return { ...createHttpClient(guard), checkUrl: (url) => guard.checkUrl(url) };
}

/**
 * The HTTP client for the endpoints that give a machine its own identity. They are link-local or on the machine, and
 * only the environment names them: no file and no client.
 */
export function createMachineIdentityHttp(): HttpClient {
  return createHttpClient({ checkUrl() {}, checkHost() {}, lookup });
}
