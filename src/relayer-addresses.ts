import type { Chain } from './chains/chain.ts';
import type { RelayerEntry } from './config/configuration.ts';
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

/** A declared relayer that cannot be made yet: its signer does not tell its key, and nothing is stored of it. */
export interface LateRelayer {
  id: string;
  signerId: string;
  error: unknown;
}

/**
 * Relayers with the addresses that their signers have on their chains. A relayer keeps the address that it has for as
 * long as it names the same signer: its money and its transactions are there. A key that is another one by now signs
 * nothing for it, so a signer that cannot be asked keeps no relayer from its address.
 * @param isReset the store remembers nothing: the key counts where it is known
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

/** Says why the signer of a relayer cannot sign for its account: it has the key of another one. */
export function keyFaults({ chains, signers }: Pick<AddressParts, 'chains' | 'signers'>) {
  return async ({ networkType, signerId, address }: Relayer): Promise<string | undefined> => {
    const chain = chains.get(networkType);
    if (chain === undefined) return undefined;
    const own = chain.addressOf(await (await signers.signer(signerId)).publicKey(chain.curve));
    return own === address ? undefined : `signer ${signerId} has the key of ${own}, not of ${address}: ${HINT}`;
  };
}
