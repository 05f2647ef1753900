import type { Chain } from '../../chains/chain.ts';
import type { ChainClient, RelayerAccount } from '../../chains/chain-client.ts';
import type { ChainConnections } from '../../chains/rpc-connections.ts';
import { AppError } from '../../domain/errors.ts';
import { memoizePerObject, type WireObject } from '../../domain/json/json.ts';
import type { NetworkType } from '../../domain/network-type.ts';
import { whenKnown } from '../../domain/when-known.ts';
import type { StoreReader } from '../../store/store.ts';
import { laneKey } from '../transactions/records/lane.ts';
import { type Relayer, relayerDisabled, relayerView } from './records/relayer.ts';

/** A relayer, and the parts of its chain that act for it. */
export interface RelayerAccess {
  relayer: Relayer;
  chain: Chain;
  account: RelayerAccount;
  /** The client of its network. The first call connects it. */
  client(): ChainClient;
}

export interface RelayerAccessDeps {
  read: StoreReader;
  chains: ReadonlyMap<NetworkType, Chain>;
  connections: ChainConnections;
  /** Absent: requests to relayers are not limited. */
  limit?: RelayerLimit | undefined;
}

/** Limits the requests to each relayer, whoever makes them. */
export interface RelayerLimit {
  /**
   * Takes all `count` requests or none. `count` is 1 by default.
   * @throws AppError `RELAYER_LIMITED` when the relayer takes fewer now; `INVALID_REQUEST` when it never takes so many
   */
  take(relayerId: string, count?: number): Promise<void>;
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

/** Finds relayers for the services, and says whether they may act. */
export class RelayerDirectory {
  readonly #deps: RelayerAccessDeps;

  constructor(deps: RelayerAccessDeps) {
    this.#deps = deps;
  }

  /** @throws AppError `RELAYER_NOT_FOUND` */
  assertThere(relayerId: string): void | Promise<void> {
    return whenKnown(this.#deps.read.hasRelayer(relayerId), (isThere) => {
      if (!isThere) throw new AppError('RELAYER_NOT_FOUND', { id: relayerId });
    });
  }

  /** @throws AppError `RELAYER_NOT_FOUND` */
  relayer(relayerId: string): Relayer | Promise<Relayer> {
    return whenKnown(this.#deps.read.relayer(relayerId), (relayer) => {
      if (relayer === undefined) throw new AppError('RELAYER_NOT_FOUND', { id: relayerId });
      return relayer;
    });
  }

  /**
   * Finds a relayer for acting on what is read of it. A paused or disabled relayer can be read.
   * @throws AppError `RELAYER_NOT_FOUND`
   */
  async find(relayerId: string): Promise<RelayerAccess> {
    const relayer = await this.relayer(relayerId);
    return {
      relayer,
      chain: this.chainOf(relayer),
      account: { address: relayer.address, policies: relayer.policies },
      client: () => this.#deps.connections.clientOf(relayer),
    };
  }

  /**
   * Finds a relayer to sign, send or call out with. Checks paused before disabled, as the reference does.
   * @throws AppError `RELAYER_NOT_FOUND`, `RELAYER_PAUSED`, `RELAYER_DISABLED`
   */
  async findActive(relayerId: string): Promise<RelayerAccess> {
    const access = await this.find(relayerId);
    if (access.relayer.paused) throw new AppError('RELAYER_PAUSED', {});
    const { disabledReason } = access.relayer;
    if (disabledReason !== null) throw relayerDisabled(disabledReason);
    return access;
  }

  /**
   * Does the same for a request for more work, and counts it against the relayer's limit. Cancellations use {@link
   * findActive}, because a limit must not keep anybody from stopping a transaction.
   * @throws AppError also `RELAYER_LIMITED`
   */
  async enter(relayerId: string, count = 1): Promise<RelayerAccess> {
    const access = await this.findActive(relayerId);
    await this.#deps.limit?.take(relayerId, count);
    return access;
  }

  /** Returns the account for signing: with its chain's identity and the cost of its open transactions. */
  async signingAccount({ relayer, chain, account }: RelayerAccess): Promise<RelayerAccount> {
    const { read } = this.#deps;
    const { networkType, network, address } = relayer;
    const identity = await read.chainIdentity(networkType, network);
    if (identity === undefined) return account;
    const committed = async () => {
      const open = await read.openTransactions(laneKey(networkType, identity, address));
      const dearest = open
        .filter(({ transaction: { status } }) => status !== 'mined')
        .map(({ attempts }) => attempts.map((attempt) => chain.costOf(attempt)).reduce(larger, 0n));
      return dearest.reduce((sum, cost) => sum + cost, 0n);
    };
    return { ...account, identity, committed };
  }

  /** A relayer as answers show it. The store returns the same record as long as the relayer does not change. */
  readonly viewOf = memoizePerObject(
    (relayer: Relayer): WireObject =>
      Object.freeze(relayerView(relayer, this.chainOf(relayer).policyView(relayer.policies))),
  );

  /**
   * Returns the chain family of a stored relayer or transaction.
   * @throws Error when the set-up lacks the family
   */
  chainOf({ networkType }: Pick<Relayer, 'networkType'>): Chain {
    const chain = this.#deps.chains.get(networkType);
    if (chain === undefined) throw new Error(`No chain family ${networkType}`);
    return chain;
  }
}
