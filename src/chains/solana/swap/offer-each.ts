import type { Attempt } from '../../../domain/transaction/attempt.ts';
import type { RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { BroadcastOutcome } from '../../chain-client.ts';
import { broadcast } from '../broadcast.ts';
import { type Executions, requestIdOf } from './execute.ts';

const UNHEARD: BroadcastOutcome = { kind: 'unknown', reason: 'nobody was asked' };

/** Offers each signed transaction to the nodes, or to the market where the market ordered it. */
export async function offerEach(
  rpc: RpcClient,
  executions: Executions,
  attempts: readonly Attempt[],
): Promise<BroadcastOutcome[]> {
  const own = attempts.filter((attempt) => requestIdOf(attempt) === undefined);
  const [offered, ...ordered] = await Promise.all([
    broadcast(rpc, own),
    ...attempts.filter((attempt) => !own.includes(attempt)).map((attempt) => executions.offer(attempt)),
  ]);
  const outcomes = new Map(own.map((attempt, index) => [attempt, offered[index]]));
  const others = ordered.values();
  return attempts.map((attempt) => outcomes.get(attempt) ?? others.next().value ?? UNHEARD);
}
