import type { Json } from '../../domain/json/json.ts';
import type { Attempt } from '../../domain/transaction/attempt.ts';
import type { RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { BroadcastOutcome } from '../chain-client.ts';
import { offerBytes, type Taking } from '../offering.ts';
import { broadcastFailure } from './errors.ts';
import { sentHash } from './provider.ts';

const taking: Taking = {
  method: 'eth_sendRawTransaction',
  params: ({ raw }) => [raw],
  isOurs: (answer, { hash }) => namesOurs(answer, hash),
  failure: broadcastFailure,
};

/** Offers signed transactions, lowest nonce first. */
export function broadcast(rpc: RpcClient, attempts: readonly Attempt[]): Promise<BroadcastOutcome[]> {
  return offerBytes(rpc, taking, attempts);
}

function namesOurs(answer: Json, hash: string): boolean {
  try {
    return sentHash(answer) === hash.toLowerCase();
  } catch {
    return false;
  }
}
