import type { RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Attempt } from '../../features/transactions/records/attempt.ts';
import { type OfferMethod, offerBytes } from '../broadcasting.ts';
import type { BroadcastOutcome } from '../chain-client.ts';
import { classifyBroadcastError, isAcceptedSend, sendRefusalIn } from './errors.ts';

const taking: OfferMethod = {
  method: 'sendTransaction',
  params: ({ raw }) => ({ transaction: raw }),
  isOurs: (answer, { hash }) => isAcceptedSend(answer, hash),
  failure: classifyBroadcastError,
  refusal: (answer, { hash }) => sendRefusalIn(answer, hash),
};

/** Offers signed transactions. */
export function broadcast(rpc: RpcClient, attempts: readonly Attempt[]): Promise<BroadcastOutcome[]> {
  return offerBytes(rpc, taking, attempts);
}
