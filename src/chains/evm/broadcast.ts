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

/**
 * Offers signed transactions, lowest nonce first. Where every node turns one away with words that nobody knows, asks
 * each of them whether it has it all the same.
 */
export async function broadcast(rpc: RpcClient, attempts: readonly Attempt[]): Promise<BroadcastOutcome[]> {
  const outcomes = await offerBytes(rpc, taking, attempts);
  return Promise.all(
    outcomes.map(async (outcome, index) => {
      if (outcome.kind !== 'unknown' || outcome.isClear !== true) return outcome;
      const hash = attempts[index]?.hash;
      return { ...outcome, isClear: hash !== undefined && (await isNowhere(rpc, hash)) };
    }),
  );
}

/** Whether every node says that it does not have the transaction, in a block or in its pool. */
async function isNowhere(rpc: RpcClient, hash: string): Promise<boolean> {
  const answers = await rpc.each('eth_getTransactionByHash', [hash]);
  return answers.every((answer) => answer.status === 'fulfilled' && answer.value === null);
}

function namesOurs(answer: Json, hash: string): boolean {
  try {
    return sentHash(answer) === hash.toLowerCase();
  } catch {
    return false;
  }
}
