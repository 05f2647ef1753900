import { AppError, invalidRequest } from '../domain/errors.ts';
import type { Relayer } from '../domain/relayer.ts';
import type { Signer } from '../signers/signer.ts';
import type { Store } from '../store/store.ts';
import { answerOnce } from './effects.ts';
import type { RelayerDirectory } from './relayer-access.ts';
import type { SigningService } from './services.ts';

export interface SigningDeps {
  store: Store;
  relayers: RelayerDirectory;
  signerOf(relayer: Relayer): Promise<Signer>;
}

/** Signing without sending. Gated like sending, also for plugins, where the reference forgets to. */
export function createSigningService({ store, relayers, signerOf }: SigningDeps): SigningService {
  /** @throws AppError also where the relayer's family has no sponsorship */
  async function sponsoring(relayerId: string) {
    const { relayer, account, client } = await relayers.findActive(relayerId);
    const identity = await store.read.chainIdentity(relayer.networkType, relayer.network);
    const { sponsorship } = client();
    // In the reference's words.
    if (sponsorship === undefined) {
      throw invalidRequest(`Gas abstraction not supported for ${relayer.networkType.toUpperCase()} relayers`);
    }
    return { relayer, sponsorship, account: { ...account, identity } };
  }

  return {
    signMessage: (relayerId, body, effect) =>
      answerOnce(store, effect, async () => {
        const { relayer, chain, account } = await relayers.findActive(relayerId);
        if (chain.signMessage === undefined) throw notSupported('Signing messages', relayer);
        return chain.signMessage(body, account, await signerOf(relayer));
      }),

    signTypedData: (relayerId, body, effect) =>
      answerOnce(store, effect, async () => {
        const { relayer, chain, account } = await relayers.findActive(relayerId);
        if (chain.signTypedData === undefined) throw notSupported('Signing typed data', relayer);
        return chain.signTypedData(body, account, await signerOf(relayer));
      }),

    signTransaction: (relayerId, body, effect) =>
      answerOnce(store, effect, async () => {
        const { relayer, account, client } = await relayers.findActive(relayerId);
        const identity = await store.read.chainIdentity(relayer.networkType, relayer.network);
        const connected = client();
        if (connected.signTransaction === undefined) throw notSupported('Signing transactions', relayer);
        return connected.signTransaction(body, { ...account, identity }, await signerOf(relayer));
      }),

    async quoteSponsored(relayerId, body) {
      const { sponsorship, account } = await sponsoring(relayerId);
      return sponsorship.quote(body, account);
    },

    buildSponsored: (relayerId, body, effect) =>
      answerOnce(store, effect, async () => {
        const { relayer, sponsorship, account } = await sponsoring(relayerId);
        return sponsorship.build(body, account, await signerOf(relayer));
      }),
  };
}

function notSupported(what: string, { networkType }: Relayer): AppError {
  return new AppError('NOT_SUPPORTED', { what, networkType });
}
