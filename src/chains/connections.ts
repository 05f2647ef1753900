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

/** How endpoints answer, by what was asked of them so far, whoever asked. */
export interface Contacts {
  /** Undefined before anything was asked of the relayer's endpoints. */
  contactOf(relayer: Served): Readonly<Contact> | undefined;
  /**
   * Calls back when the last word of all endpoints of some relayers was trouble, and when one of them serves again, with
   * what tells these relayers from others. Returns the way to stop that.
   */
  onContact(listener: (concerns: (relayer: Served) => boolean) => void): () => void;
}

/** For connections of which nothing is known. */
export const NO_CONTACTS: Contacts = {
  contactOf: () => ({ isLost: false, servedAt: Number.POSITIVE_INFINITY }),
  onContact: () => () => {},
};
