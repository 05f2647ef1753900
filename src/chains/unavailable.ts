import { AppError } from '../domain/errors.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Chain } from './chain.ts';
import type { ChainClient, Sequences } from './client.ts';

/** What a family needs to send. */
type SendingParts = Pick<Chain, 'parseRequest' | 'transactionView' | 'costOf' | 'vary'>;

/** The sending parts of a family whose relayers cannot send yet: each refuses with `NOT_AVAILABLE_YET`. */
export function unavailableParts(networkType: NetworkType): SendingParts {
  const refuse = refusal(networkType, SENDING);
  return { parseRequest: refuse, transactionView: refuse, costOf: refuse, vary: refuse };
}

const SENDING = 'Sending transactions';

type SendingClient = Required<Pick<ChainClient, 'prepare' | 'sign' | 'broadcast' | 'observe' | 'signTransaction'>> &
  Pick<Sequences, 'noopRequest'>;

/** The same of its live side; no endpoint is contacted. */
export function unavailableSending(networkType: NetworkType): SendingClient {
  const refuse = refusal(networkType, SENDING);
  const refuseSigning = refusal(networkType, 'Signing transactions');
  return {
    prepare: async () => refuse(),
    sign: async () => refuse(),
    broadcast: async () => refuse(),
    observe: async () => refuse(),
    signTransaction: async () => refuseSigning(),
    noopRequest: refuse,
  };
}

function refusal(networkType: NetworkType, what: string): () => never {
  return () => {
    throw new AppError('NOT_AVAILABLE_YET', { what, networkType });
  };
}
