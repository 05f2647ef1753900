import { type AddressGuard, createAddressGuard } from './address-guard.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';

/** Where a machine of Azure asks who it is: it does so for its operator. */
const METADATA = ['169.254.169.254'];

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
    metadata: signers === 'declared' ? METADATA : [],
    privateAdvice: 'declare the signer in the configuration',
  });
  return { ...createHttpClient(guard), checkUrl: (url) => guard.checkUrl(url) };
}
