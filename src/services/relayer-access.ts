import type { Account } from '../chains/account.ts';
import type { Chain } from '../chains/chain.ts';
import type { ChainClient } from '../chains/chain-client.ts';
import type { ChainConnections } from '../chains/connections.ts';
import { AppError } from '../domain/errors.ts';
import type { WireObject } from '../domain/json/json.ts';
import type { NetworkType } from '../domain/network-type.ts';
import { relayerDisabled } from '../domain/relayer/disabled-reason.ts';
import type { Relayer } from '../domain/relayer/relayer.ts';
import { relayerView } from '../domain/relayer/relayer-view.ts';
import { laneKey } from '../domain/transaction/lane.ts';
import type { Reader } from '../store/store.ts';

/** A relayer with what its chain needs to act for it. */
export interface RelayerAccess {
  relayer: Relayer;
  chain: Chain;
  account: Account;
  /** The live side of its network, connected when first asked for. */
  client(): ChainClient;
}

export interface RelayerAccessDeps {
  read: Reader;
  chains: ReadonlyMap<NetworkType, Chain>;
  connections: ChainConnections;
  /** Absent: whoever may ask, may ask as often as it likes. */
  limit?: RelayerLimit | undefined;
}

/** Counts what relayers are asked to do, whoever asks. */
export interface RelayerLimit {
  /**
   * All of what is asked for, or none; 1 where no `count` is given.
   * @throws AppError `RELAYER_LIMITED` when that is more than the relayer takes now; `INVALID_REQUEST`: than it ever takes
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
  async assertThere(relayerId: string): Promise<void> {
    if (!(await this.#deps.read.hasRelayer(relayerId))) throw new AppError('RELAYER_NOT_FOUND', { id: relayerId });
  }

  /** For reading, which is never gated. @throws AppError `RELAYER_NOT_FOUND` */
  async find(relayerId: string): Promise<RelayerAccess> {
    const relayer = await this.#deps.read.relayer(relayerId);
    if (relayer === undefined) throw new AppError('RELAYER_NOT_FOUND', { id: relayerId });
    return {
      relayer,
      chain: this.chainOf(relayer),
      account: { address: relayer.address, policies: relayer.policies },
      client: () => this.#deps.connections.clientOf(relayer),
    };
  }

  /**
   * For whatever signs, sends or calls out. Paused is tested before disabled, as in the reference.
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
   * The same for a request that asks for more work: it counts against the relayer's limit. Cancellations do not, so that
   * nobody is kept from stopping what was asked for.
   * @throws AppError also `RELAYER_LIMITED`
   */
  async enter(relayerId: string, count = 1): Promise<RelayerAccess> {
    const access = await this.findActive(relayerId);
    await this.#deps.limit?.take(relayerId, count);
    return access;
  }

  /** The account as it is where something is signed: with its chain, and what it has under way. */
  async signingAccount({ relayer, chain, account }: RelayerAccess): Promise<Account> {
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

  /** A relayer as answers show it. */
  viewOf(relayer: Relayer): WireObject {
    return relayerView(relayer, this.chainOf(relayer).policyView(relayer.policies));
  }

  /** The family of a stored relayer or transaction; that it is missing is a fault of the set-up. */
  chainOf({ networkType }: Pick<Relayer, 'networkType'>): Chain {
    const chain = this.#deps.chains.get(networkType);
    if (chain === undefined) throw new Error(`No chain family ${networkType}`);
    return chain;
  }
}
