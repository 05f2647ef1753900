import type { RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Attempt } from '../../features/transactions/records/attempt.ts';
import { type OfferMethod, offerBytes } from '../broadcasting.ts';
import type { BroadcastOutcome } from '../chain-client.ts';
import { classifyBroadcastError } from './errors.ts';

const offerMethod: OfferMethod = {
  method: 'sendTransaction',
  params: ({ raw, acceptedAt }) => [
    raw,
    {
      encoding: 'base64',
      // A node simulates the bytes on the first offer. Later offers are only passed on.
      skipPreflight: acceptedAt !== null,
      preflightCommitment: 'confirmed',
      // Turns off the node's own retries: the lane offers the same bytes again until they are in a block or dead.
      maxRetries: 0,
    },
  ],
  isOurs: (answer, { hash }) => answer === hash,
  failure: classifyBroadcastError,
};

/** Offers signed transactions. */
export function broadcast(rpc: RpcClient, attempts: readonly Attempt[]): Promise<BroadcastOutcome[]> {
  return offerBytes(rpc, offerMethod, attempts);
}
