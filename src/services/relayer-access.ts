import type { Account } from '../chains/account.ts';
import type { Chain } from '../chains/chain.ts';
import type { ChainClient } from '../chains/client.ts';
import type { ChainConnections } from '../chains/connections.ts';
import { disabledText } from '../domain/disabled-reason.ts';
import { AppError } from '../domain/errors.ts';
import type { WireObject } from '../domain/json/json.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Relayer } from '../domain/relayer.ts';
import { relayerView } from '../domain/relayer-view.ts';
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
}

/** Finds relayers for the services, and says whether they may act. */
export class RelayerDirectory {
  readonly #deps: RelayerAccessDeps;

  constructor(deps: RelayerAccessDeps) {
    this.#deps = deps;
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
    if (disabledReason !== null) throw new AppError('RELAYER_DISABLED', { reason: disabledText(disabledReason) });
    return access;
  }

  /** A relayer as answers show it. */
  viewOf(relayer: Relayer): WireObject {
    return relayerView(relayer, this.chainOf(relayer).policyView(relayer.policies));
  }

  /** The family of a stored relayer; that it is missing is a fault of the set-up. */
  chainOf(relayer: Relayer): Chain {
    const chain = this.#deps.chains.get(relayer.networkType);
    if (chain === undefined) throw new Error(`No chain family ${relayer.networkType}`);
    return chain;
  }
}
