import { type AddressGuard, createAddressGuard } from './address-guard.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';

/** The address at which a machine of Azure asks for its own identity. It does so for its operator. */
const METADATA = ['169.254.169.254'];

/** The HTTP client for services that hold keys, with the check of their addresses. */
export interface SignerHttp extends HttpClient, Pick<AddressGuard, 'checkUrl'> {}

/**
 * Services that the operator's files name may have private addresses. A client that makes a signer over the API is
 * trusted less: the service that it names must have a public address.
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
