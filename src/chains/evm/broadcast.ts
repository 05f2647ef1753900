import type { Attempt } from '../../domain/transaction.ts';
import { type RpcClient, RpcError } from '../../egress/rpc-client.ts';
import type { BroadcastOutcome } from '../chain.ts';
import { broadcastFailure } from './errors.ts';
import { sentHash } from './provider.ts';

/** Offers signed bytes to one node, once. The same bytes may be offered again at any time: they are one transaction. */
export async function broadcast(rpc: RpcClient, attempt: Attempt): Promise<BroadcastOutcome> {
  try {
    const answer = await rpc.offer('eth_sendRawTransaction', [attempt.raw]);
    return namesOurs(answer, attempt.hash)
      ? { kind: 'accepted' }
      : { kind: 'unknown', reason: 'the node answered with another hash than that of the bytes' };
  } catch (error) {
    if (error instanceof RpcError) return broadcastFailure(error);
    throw error;
  }
}

function namesOurs(answer: Parameters<typeof sentHash>[0], hash: string): boolean {
  try {
    return sentHash(answer) === hash;
  } catch {
    return false;
  }
}
