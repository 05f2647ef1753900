import type { Relayer } from '../domain/relayer.ts';
import type { Signer } from '../signers/signer.ts';
import type { RelayerDirectory } from './relayer-access.ts';
import type { SigningService } from './services.ts';

export interface SigningDeps {
  relayers: RelayerDirectory;
  signerOf(relayer: Relayer): Promise<Signer>;
}

/** Signing without sending. Gated like sending, also for plugins, where the reference forgets to. */
export function createSigningService({ relayers, signerOf }: SigningDeps): SigningService {
  return {
    async signTransaction(relayerId, body) {
      const { relayer, account, client } = await relayers.findActive(relayerId);
      return client().signTransaction(body, account, await signerOf(relayer));
    },
  };
}
