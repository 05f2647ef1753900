import { type AddressGuard, createAddressGuard } from './address-guard.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';

/** The way to services that hold keys, and the judge of their addresses. */
export interface SignerHttp extends HttpClient, Pick<AddressGuard, 'checkUrl'> {}

/**
 * Those that the operator's files name may lie inside. Whoever makes a signer over the API is trusted less: a service
 * that it names has to lie outside.
 */
export function createSignerHttp(signers: 'declared' | 'made by a client' = 'declared'): SignerHttp {
  const guard = createAddressGuard({
    allowedHosts: [],
    blockPrivate: signers !== 'declared',
    privateAdvice: 'declare the signer in the configuration',
  });
  return { ...createHttpClient(guard), checkUrl: (url) => guard.checkUrl(url) };
}
