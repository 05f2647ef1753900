import { AppError } from '../domain/errors.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Chain } from './chain.ts';
import type { ChainClient } from './client.ts';

/** What a family needs to act on its network. */
type ActingParts = Pick<Chain, 'parseRequest' | 'transactionView' | 'costOf' | 'vary' | 'connect'>;

/**
 * The acting parts of a family whose relayers can be declared but cannot act yet: each refuses with
 * `NOT_AVAILABLE_YET`, and no endpoint is contacted.
 */
export function unavailableParts(networkType: NetworkType): ActingParts {
  const refuse = (what: string) => (): never => {
    throw new AppError('NOT_AVAILABLE_YET', { what, networkType });
  };
  const client = unavailableClient(networkType);
  return {
    parseRequest: refuse(SENDING),
    transactionView: refuse(SENDING),
    costOf: refuse(SENDING),
    vary: refuse(SENDING),
    connect: () => client,
  };
}

const SENDING = 'Sending transactions';

function unavailableClient(networkType: NetworkType): ChainClient {
  const refuse = (what: string) => async (): Promise<never> => {
    throw new AppError('NOT_AVAILABLE_YET', { what, networkType });
  };
  return {
    identity: refuse('The network’s identity'),
    balance: refuse('The balance'),
    moment: refuse('The chain’s clock'),
    prepare: refuse(SENDING),
    sign: refuse(SENDING),
    broadcast: refuse(SENDING),
    observe: refuse(SENDING),
    signTransaction: refuse('Signing transactions'),
    rpc: refuse('JSON-RPC'),
  };
}
