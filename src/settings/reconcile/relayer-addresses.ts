import type { Chain } from '../../chains/chain.ts';
import { EndablePause } from '../../domain/endable-pause.ts';
import { AppError, messageOf } from '../../domain/errors.ts';
import type { NetworkType } from '../../domain/network-type.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Relayer } from '../../features/relayers/records/relayer.ts';
import type { SignerDirectory } from '../../features/signers/signer-directory.ts';
import type { Log } from '../../observability/log.ts';
import type { Store, StoreReader } from '../../store/store.ts';
import type { RelayerEntry } from '../configuration.ts';
import { applyChangedRelayers, type DeclaredRelayer } from './apply-declarations.ts';

const HINT = 'bring its key back, or give the new key a signer of its own and name that in the relayer';

export interface AddressParts {
  chains: ReadonlyMap<NetworkType, Chain>;
  signers: Pick<SignerDirectory, 'signer'>;
  read: Pick<StoreReader, 'allRelayers'>;
  log: Log;
}

/** A declared relayer that cannot be created yet: its signer does not return its key, and no relayer is stored. */
export interface WaitingRelayer {
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
): Promise<{ addressed: DeclaredRelayer[]; waiting: WaitingRelayer[] }> {
  const stored = new Map((await read.allRelayers()).map((relayer) => [relayer.id, relayer]));
  const waiting: WaitingRelayer[] = [];
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
          log.warn(unasked, 'a signer does not return its public key: its relayer keeps its stored address');
          return { ...relayer, address: kept };
        }
        if (before === undefined) waiting.push({ id, signerId, error });
        else
          log.error(
            unasked,
            'the new signer of a relayer does not tell its key: the relayer stays as it was till the next start',
          );
        return undefined;
      }
    }),
  );
  return { addressed: found.filter((one) => one !== undefined), waiting };
}

/**
 * Returns the reason when a relayer's signer has the key of another account, or cannot be opened. A key service that
 * does not answer is no such reason.
 */
export function createKeyFaultCheck({ chains, signers }: Pick<AddressParts, 'chains' | 'signers'>) {
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

export interface WaitingRelayersDeps extends Omit<AddressParts, 'read'> {
  store: Pick<Store, 'read' | 'write'>;
  /** The relayers that the configuration declares now. */
  declared(): readonly RelayerEntry[];
  engine: Pick<Engine, 'recheck'>;
  /** The time between tries, in milliseconds. */
  everyMs?: number;
}

const EVERY_MS = 10_000;

/**
 * Declared relayers that do not exist yet, because their signers do not return their keys. Each is created once its
 * signer does. Other relayers do not wait for them.
 */
export class WaitingRelayers {
  readonly #deps: WaitingRelayersDeps;
  readonly #pause = new EndablePause();
  /** The last logged reason of each waiting relayer. */
  readonly #reasons = new Map<string, string>();
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(deps: WaitingRelayersDeps) {
    this.#deps = deps;
  }

  /** Logs the waiting relayers, and retries them from now on. */
  add(waiting: readonly WaitingRelayer[]): void {
    for (const { id, signerId, error } of waiting) {
      const reason = messageOf(error);
      if (this.#reasons.get(id) === reason) continue;
      this.#reasons.set(id, reason);
      const waits = { relayerId: id, signer: signerId, err: error };
      this.#deps.log.error(
        waits,
        'a relayer is not created yet, because its signer does not return its public key; it is tried again',
      );
    }
    if (waiting.length > 0 && !this.#isClosed) this.#running ??= this.#run();
  }

  /** Stops after the try under way. Safe to call twice. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#pause.end();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { everyMs = EVERY_MS, log } = this.#deps;
    while (this.#reasons.size > 0 && !this.#isClosed) {
      await this.#pause.last(everyMs);
      if (this.#isClosed) return;
      await this.#tryAgain().catch((error: unknown) => log.error({ err: error }, 'a relayer could not be created'));
    }
    this.#running = undefined;
  }

  async #tryAgain(): Promise<void> {
    const { store, declared, engine, log } = this.#deps;
    // Relayers that exist by now, or are not declared any more, do not wait any longer.
    const there = new Set((await store.read.allRelayers()).map(({ id }) => id));
    const entries = declared().filter(({ id }) => this.#reasons.has(id) && !there.has(id));
    const wanted = new Set(entries.map(({ id }) => id));
    for (const id of this.#reasons.keys()) if (!wanted.has(id)) this.#reasons.delete(id);

    const { addressed, waiting } = await withAddresses(entries, { ...this.#deps, read: store.read });
    if (addressed.length > 0) await applyChangedRelayers(store, addressed);
    for (const { id, address } of addressed) {
      this.#reasons.delete(id);
      engine.recheck(id);
      log.info({ relayerId: id, address }, 'a relayer was created after its signer had returned its public key');
    }
    this.add(waiting);
  }
}
