import type { Relayer } from '../domain/relayer/relayer.ts';
import type { Contact } from '../egress/rpc/endpoint-pool.ts';
import type { ChainClient } from './chain-client.ts';

/** The live side of the networks: one client for each network and set of endpoints, made when first needed. */
export interface ChainConnections {
  /** @throws AppError `PROVIDER_FAILED` when the relayer's network is not known */
  clientOf(relayer: Served): ChainClient;
  close(): Promise<void>;
}

/** What serves a relayer: its network and endpoints. */
export type Served = Pick<Relayer, 'networkType' | 'network' | 'customRpcUrls'>;

/** How endpoints have answered so far, whoever asked them. */
export interface Contacts {
  /** Undefined until something asks the relayer's endpoints. */
  contactOf(relayer: Served): Readonly<Contact> | undefined;
  /**
   * Calls `listener` when the last result of every endpoint of some relayers was trouble, and when one of these
   * endpoints serves again. `concerns` tells which relayers are affected. Returns a function that ends the calls.
   */
  onContact(listener: (concerns: (relayer: Served) => boolean) => void): () => void;
}

/** For connections of which nothing is known. */
export const NO_CONTACTS: Contacts = {
  contactOf: () => ({ isLost: false, servedAt: Number.POSITIVE_INFINITY }),
  onContact: () => () => {},
};
