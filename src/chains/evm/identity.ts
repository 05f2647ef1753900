import type { Network } from '../../domain/network.ts';
import type { RpcClient } from '../../egress/rpc/rpc-client.ts';
import { balanceOfAll } from '../quorum.ts';
import { type ServedQuestion, servedChain } from '../served-chain.ts';
import { balance, onlyOn, quantity } from './provider.ts';

/** How to find the right chain among those that endpoints serve. */
export type IdentityQuestion = Pick<ServedQuestion<bigint>, 'expected' | 'onServed'>;

/**
 * Asks every endpoint for its chain id (EIP-695).
 * @throws AppError `PROVIDER_FAILED`
 */
export function readChainId(network: Network, rpc: RpcClient, question: IdentityQuestion): Promise<bigint> {
  return servedChain(network, rpc, { method: 'eth_chainId', served: quantity, what: 'chain id', ...question });
}

/** Which endpoints count, and what they are asked about. */
export interface BalanceOn {
  /** Null: any endpoint counts. */
  chain: bigint | null;
  address: string;
  /** The balance to expect at least. If one endpoint tells less, all are asked. */
  least: bigint | undefined;
}

/** The account's balance in wei by an endpoint that serves the chain. */
export function balanceOn(rpc: RpcClient, { chain, address, least }: BalanceOn): Promise<bigint> {
  const source = chain === null ? rpc : onlyOn(chain, rpc);
  return balanceOfAll(source, (read) => balance(read, address), least);
}
