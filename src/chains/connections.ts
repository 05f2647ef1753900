import type { Relayer } from '../domain/relayer.ts';
import type { ChainClient } from './chain.ts';

/** The live side of the networks: one client for each network and set of endpoints, made when first needed. */
export interface ChainConnections {
  /** @throws AppError `PROVIDER_FAILED` when the relayer's network is not known */
  clientOf(relayer: Pick<Relayer, 'networkType' | 'network' | 'customRpcUrls'>): ChainClient;
  close(): Promise<void>;
}
