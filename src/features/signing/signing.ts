import type { Chain } from '../../chains/chain.ts';
import { AppError, invalidRequest } from '../../domain/errors.ts';
import type { WireObject } from '../../domain/json/json.ts';
import type { Signer } from '../../signers/signer.ts';
import type { Store } from '../../store/store.ts';
import { auditSignature, type SignatureRequest } from '../audit/audit-records.ts';
import { answerOnce } from '../recorded-effects.ts';
import type { Relayer } from '../relayers/records/relayer.ts';
import type { RelayerDirectory } from '../relayers/relayer-access.ts';
import type { CallTerms, SigningService } from '../services.ts';

export interface SigningDeps {
  store: Store;
  relayers: RelayerDirectory;
  signerOf(relayer: Relayer): Promise<Signer>;
}

/**
 * Signs without sending. Paused and disabled relayers refuse it like sending, also for plugins, where the reference
 * does not check.
 */
export function createSigningService({ store, relayers, signerOf }: SigningDeps): SigningService {
  /** Signs, and records the caller before the signature is returned. */
  function once(
    signed: SignatureRequest,
    { effect, actor }: CallTerms,
    act: () => Promise<WireObject>,
  ): Promise<WireObject> {
    return answerOnce(store, effect, act, (writer) => auditSignature(writer, actor, signed));
  }

  /**
   * Finds the relayer and its sponsorship.
   * @throws AppError also when the relayer's family has no sponsorship
   */
  async function sponsoring(relayerId: string) {
    const access = await relayers.enter(relayerId);
    const { relayer, chain, client } = access;
    const { sponsorship } = client();
    if (sponsorship === undefined) throw notSupported('sponsorship', chain);
    return { relayer, sponsorship, account: await relayers.signingAccount(access) };
  }

  return {
    signMessage: (relayerId, body, by = {}) =>
      once({ relayerId, what: 'message', request: body }, by, async () => {
        const { relayer, chain, account } = await relayers.enter(relayerId);
        if (chain.signMessage === undefined) throw notSupported('message', chain);
        return chain.signMessage(body, account, await signerOf(relayer));
      }),

    signTypedData: (relayerId, body, by = {}) =>
      once({ relayerId, what: 'typed_data', request: body }, by, async () => {
        const { relayer, chain, account } = await relayers.enter(relayerId);
        if (chain.signTypedData === undefined) throw notSupported('typedData', chain);
        return chain.signTypedData(body, account, await signerOf(relayer));
      }),

    signTransaction: (relayerId, body, by = {}) =>
      once({ relayerId, what: 'transaction', request: body }, by, async () => {
        const access = await relayers.enter(relayerId);
        const { relayer, chain, client } = access;
        const connected = client();
        if (connected.signTransaction === undefined) throw notSupported('transaction', chain);
        const account = await relayers.signingAccount(access);
        return connected.signTransaction(body, { ...account, maySpend: by.maySpend }, await signerOf(relayer));
      }),

    async quoteSponsored(relayerId, body) {
      const { sponsorship, account } = await sponsoring(relayerId);
      return sponsorship.quote(body, account);
    },

    buildSponsored: (relayerId, body, by = {}) =>
      once({ relayerId, what: 'sponsored_transaction', request: body }, by, async () => {
        const { relayer, sponsorship, account } = await sponsoring(relayerId);
        return sponsorship.build(body, account, await signerOf(relayer));
      }),
  };
}

const WHAT = {
  message: 'Signing messages',
  typedData: 'Signing typed data',
  transaction: 'Signing transactions',
  sponsorship: 'Sponsoring transactions',
};

/** Makes the error for an unsupported operation, in the family's words if it has any. */
function notSupported(part: keyof typeof WHAT, { type, description: { refusals = {} } }: Chain): AppError {
  const refusal = part === 'transaction' ? undefined : refusals[part];
  return refusal === undefined
    ? new AppError('NOT_SUPPORTED', { what: WHAT[part], networkType: type })
    : invalidRequest(refusal);
}
