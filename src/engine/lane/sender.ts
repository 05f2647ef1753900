import { isDeepStrictEqual } from 'node:util';
import type { Chain } from '../../chains/chain.ts';
import type { ChainClient, RelayerAccount } from '../../chains/chain-client.ts';
import type { ChainConnections } from '../../chains/rpc-connections.ts';
import type { NetworkType } from '../../domain/network-type.ts';
import type { Relayer } from '../../features/relayers/records/relayer.ts';
import { accountOfLane } from '../../features/transactions/records/lane.ts';
import type { Signer } from '../../signers/signer.ts';
import type { Store } from '../../store/store.ts';

/** The relayer that accepted a transaction, with what the chain needs to act for it. */
export interface Sender {
  relayer: Relayer;
  account: RelayerAccount;
  chain: Chain;
  client: ChainClient;
  signer(): Promise<Signer>;
}

export interface SenderSources {
  store: Store;
  chains: ReadonlyMap<NetworkType, Chain>;
  connections: ChainConnections;
  signerOf(relayer: Relayer): Promise<Signer>;
  /** Has a relayer's chain checked again, because it may have changed. */
  recheck(relayerId: string): void;
}

/**
 * Finds the senders of a lane, each once. They act for the lane's account, even where a relayer has another signer by
 * now. A transaction begun with one key ends with that key, or waits: two keys would pay twice. Senders are found again
 * for every step, so that a changed policy or endpoint counts from the next one.
 */
export class Senders {
  readonly #sources: SenderSources;
  readonly #address: string;
  readonly #found = new Map<string, Promise<Sender>>();
  #lookMs: number | undefined;

  constructor(sources: SenderSources, lane: string) {
    this.#sources = sources;
    this.#address = accountOfLane(lane);
  }

  /** @throws when the relayer, its chain family or its network is not known */
  of(relayerId: string): Promise<Sender> {
    const known = this.#found.get(relayerId);
    if (known !== undefined) {
      return known;
    }
    const sender = this.#find(relayerId);
    this.#found.set(relayerId, sender);
    return sender;
  }

  /** The shortest `lookMs` of the clients found so far; undefined when none has one. */
  get lookMs(): number | undefined {
    return this.#lookMs;
  }

  /** {@link SenderSources.recheck} */
  recheck(relayerId: string): void {
    this.#sources.recheck(relayerId);
  }

  /** Whether the relayer of a sender still has the policies that the sender was found with. */
  async isCurrent({ relayer }: Sender): Promise<boolean> {
    const now = await this.#sources.store.read.relayer(relayer.id);
    return isDeepStrictEqual(now?.policies, relayer.policies);
  }

  async #find(relayerId: string): Promise<Sender> {
    const { store, chains, connections, signerOf } = this.#sources;
    const relayer = await store.read.relayer(relayerId);
    if (relayer === undefined) {
      throw new Error(`Relayer ${relayerId} is gone`);
    }
    const chain = chains.get(relayer.networkType);
    if (chain === undefined) {
      throw new Error(`No chain family ${relayer.networkType}`);
    }
    const client = connections.clientOf(relayer);
    if (client.lookMs !== undefined) this.#lookMs = Math.min(client.lookMs, this.#lookMs ?? client.lookMs);
    return {
      relayer,
      account: { address: this.#address, policies: relayer.policies },
      chain,
      client,
      signer: () => signerOf(relayer),
    };
  }
}
