import { isObject } from '../../../domain/json/json.ts';
import { printable } from '../../../domain/printable.ts';
import { withTimeout } from '../../../domain/with-timeout.ts';
import { type MarketClient, MarketFailure } from '../../../egress/market-client.ts';
import type { RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { Attempt } from '../../../features/transactions/records/attempt.ts';
import type { BroadcastOutcome } from '../../chain-client.ts';
import { broadcast } from '../broadcast.ts';
import { readChainFields } from '../schema.ts';
import { executeUltraOrder } from './jupiter.ts';

/** The market answers only when the transaction has landed. The rest of the lane does not wait that long. */
const PATIENCE_MS = 500;

const MAX_REASON = 200;

/** The market's id of an attempt that the market itself brings to the chain; undefined for other attempts. */
export function marketRequestIdOf({ fields }: Pick<Attempt, 'fields'>): string | undefined {
  return readChainFields(fields)?.swap?.request_id;
}

/**
 * Gives signed orders to the market. The market takes the same order again, and brings it to the chain once. Its answer
 * proves nothing: the chain shows what became of an order.
 */
export class UltraExecutions {
  readonly #market: MarketClient;
  readonly #underWay = new Map<string, Promise<BroadcastOutcome>>();

  constructor(market: MarketClient) {
    this.#market = market;
  }

  async offer(attempt: Attempt): Promise<BroadcastOutcome> {
    const { hash } = attempt;
    const offering = this.#underWay.get(hash) ?? this.#execute(attempt, marketRequestIdOf(attempt) ?? '');
    this.#underWay.set(hash, offering);
    const forget = () => this.#underWay.delete(hash);
    offering.then(forget, forget);
    const outcome = await withTimeout(PATIENCE_MS, offering);
    return outcome ?? { kind: 'unknown', reason: 'the market has not answered yet' };
  }

  async #execute({ raw, hash }: Attempt, requestId: string): Promise<BroadcastOutcome> {
    try {
      const answer = await executeUltraOrder(this.#market, raw, requestId);
      const { status, signature, error } = isObject(answer) ? answer : {};
      if (status === 'Success' && signature === hash) return { kind: 'accepted' };
      const detail = typeof error === 'string' ? `: ${printable(error, MAX_REASON)}` : '';
      return { kind: 'unknown', reason: `the market has not executed it${detail}` };
    } catch (error) {
      if (!(error instanceof MarketFailure)) throw error;
      return { kind: 'unknown', reason: error.message };
    }
  }
}

const NOT_OFFERED: BroadcastOutcome = { kind: 'unknown', reason: 'nobody was asked' };

/** Offers each signed transaction to the nodes, or to the market where the market ordered it. */
export async function offerToNodesOrMarket(
  rpc: RpcClient,
  executions: UltraExecutions,
  attempts: readonly Attempt[],
): Promise<BroadcastOutcome[]> {
  const own = attempts.filter((attempt) => marketRequestIdOf(attempt) === undefined);
  const [offered, ...ordered] = await Promise.all([
    broadcast(rpc, own),
    ...attempts.filter((attempt) => !own.includes(attempt)).map((attempt) => executions.offer(attempt)),
  ]);
  const outcomes = new Map(own.map((attempt, index) => [attempt, offered[index]]));
  const others = ordered.values();
  return attempts.map((attempt) => outcomes.get(attempt) ?? others.next().value ?? NOT_OFFERED);
}
