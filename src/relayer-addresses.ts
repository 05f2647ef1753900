import type { Chain } from './chains/chain.ts';
import type { RelayerEntry } from './config/configuration.ts';
import { AppError } from './domain/errors.ts';
import type { NetworkType } from './domain/network-type.ts';
import type { Relayer } from './domain/relayer/relayer.ts';
import type { Log } from './observability/log.ts';
import type { DeclaredRelayer } from './services/declarations/declarations.ts';
import type { SignerDirectory } from './services/settings/signer-directory.ts';
import type { Reader } from './store/store.ts';

const HINT = 'bring its key back, or give the new key a signer of its own and name that in the relayer';

export interface AddressParts {
  chains: ReadonlyMap<NetworkType, Chain>;
  signers: Pick<SignerDirectory, 'signer'>;
  read: Pick<Reader, 'allRelayers'>;
  log: Log;
}

/** A declared relayer that cannot be created yet: its signer does not return its key, and no relayer is stored. */
export interface LateRelayer {
  id: string;
  signerId: string;
  error: unknown;
}

/**
 * Adds to each relayer the address of its signer on its chain. A relayer keeps its stored address as long as its
 * signer's id stays the same, because its money and transactions are there. If the signer's key has changed, the
 * relayer signs nothing. So the stored address is also safe when the signer does not answer.
 * @param isReset the stored address does not count: the key's address is used where the key is known
 */
export async function withAddresses(
  relayers: readonly RelayerEntry[],
  { chains, signers, read, log }: AddressParts,
  { isReset = false } = {},
): Promise<{ addressed: DeclaredRelayer[]; late: LateRelayer[] }> {
  const stored = new Map((await read.allRelayers()).map((relayer) => [relayer.id, relayer]));
  const late: LateRelayer[] = [];
  const found = await Promise.all(
    relayers.map(async (relayer) => {
      const { id, networkType, signerId } = relayer;
      const chain = chains.get(networkType);
      if (chain === undefined) throw new Error(`Relayer ${id}: no chain family ${networkType}`);
      const before = stored.get(id);
      const isSame = before?.signerId === signerId && before.networkType === networkType;
      const kept = isSame ? before.address : undefined;
      try {
        const signer = await signers.signer(signerId);
        const own = chain.addressOf(await signer.publicKey(chain.curve));
        if (kept === undefined || kept === own || isReset) return { ...relayer, address: own };
        const moved = { relayerId: id, signer: signerId, address: kept, keyIsOf: own, hint: HINT };
        log.error(
          moved,
          'the key of a signer is not that of its relayer: the relayer keeps its address, and signs nothing',
        );
        return { ...relayer, address: kept };
      } catch (error) {
        const unasked = { relayerId: id, signer: signerId, address: before?.address, err: error };
        if (kept !== undefined) {
          log.warn(unasked, 'a signer does not tell its key: its relayer goes by its stored address');
          return { ...relayer, address: kept };
        }
        if (before === undefined) late.push({ id, signerId, error });
        else
          log.error(
            unasked,
            'the new signer of a relayer does not tell its key: the relayer stays as it was till the next start',
          );
        return undefined;
      }
    }),
  );
  return { addressed: found.filter((one) => one !== undefined), late };
}

/**
 * Returns the reason when a relayer's signer has the key of another account, or cannot be opened. A key service that
 * does not answer is no such reason.
 */
export function keyFaults({ chains, signers }: Pick<AddressParts, 'chains' | 'signers'>) {
  return async ({ networkType, signerId, address }: Relayer): Promise<string | undefined> => {
    const chain = chains.get(networkType);
    if (chain === undefined) return undefined;
    const signer = await signers.signer(signerId).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'SIGNER_UNUSABLE') return error;
      throw error;
    });
    if (signer instanceof AppError) return signer.message;
    const own = chain.addressOf(await signer.publicKey(chain.curve));
    return own === address ? undefined : `signer ${signerId} has the key of ${own}, not of ${address}: ${HINT}`;
  };
}
