import { createAddressGuard } from '../../src/egress/address-guard.ts';
import type { ServicesDeps } from '../../src/features/create-services.ts';
import { SignerDirectory } from '../../src/features/signers/signer-directory.ts';
import { createLog } from '../../src/observability/log.ts';
import { createSignerKinds } from '../../src/signers/registry.ts';
import type { Store } from '../../src/store/store.ts';
import { signerTools } from './signer-tools.ts';

/**
 * Services over a configuration without signers. Clients may make some, but not with a signing service at a private
 * address.
 */
export function noSigners({
  read,
}: Pick<Store, 'read'>): Pick<ServicesDeps, 'signers' | 'signerKinds' | 'signerGuard' | 'signersUseServerIdentity'> {
  const kinds = createSignerKinds();
  const ring = {
    signer: () => {
      throw new Error('none is declared');
    },
  };
  return {
    signers: new SignerDirectory({
      declared: { ring, entries: [] },
      read,
      kinds,
      tools: signerTools(),
      log: createLog('silent'),
    }),
    signerKinds: kinds,
    signersUseServerIdentity: false,
    signerGuard: createAddressGuard({ allowedHosts: [], blockPrivate: true }),
  };
}
