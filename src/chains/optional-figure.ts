import type { Json } from '../domain/json/json.ts';
import { withTimeout } from '../domain/with-timeout.ts';
import { type ParseAnswer, type ReadFromEndpoint, type RpcClient, RpcError } from '../egress/rpc/rpc-client.ts';
import { answersInTime } from './quorum.ts';

/*
 * Figure or nothing: the one rule of all families for what is only advice or only shown. Such a figure never stops a
 * transaction from being sent or from reaching its end. A figure that cannot be had, or cannot be read, counts as none,
 * and the caller goes on with what it has. What decides (a status, a block, a nonce, a balance) is never read this way.
 */

/** A figure that is only advice, and how a node is asked for it. */
export interface OptionalFigure<T> {
  method: string;
  params: Json;
  /** Throws on what it cannot read. */
  parse: ParseAnswer<T>;
  /** What is lost without the figure, as a sentence. `GET /ready` shows it for each endpoint that does not answer. */
  cost: string;
}

/** How long a figure is waited for that is not needed. */
const ADVICE_MS = 3_000;

/**
 * Asks the node of `read` for a figure that is only advice. With `others`, the other endpoints are asked when that node
 * does not tell it, and the first answer counts. Undefined for whatever keeps a node from answering: no such method, a
 * refusal, nonsense, silence.
 */
export async function askOptionalFigure<T>(
  read: ReadFromEndpoint,
  { method, params, parse, cost }: OptionalFigure<T>,
  others?: Pick<RpcClient, 'onOthers'>,
): Promise<T | undefined> {
  const ask = (one: ReadFromEndpoint) => one(method, params, parse, { advice: cost, shares: 'unsent' });
  const answer = await withTimeout(ADVICE_MS, ask(read).catch(nothing));
  if (answer !== undefined || others === undefined) return answer;
  const [other] = await answersInTime(others.onOthers(read, ask), { withinMs: ADVICE_MS, isEnough: () => true });
  return other;
}

/** Reads a field that is only shown. Null if it is absent or cannot be read. */
export function parseOrNull<T>(value: Json | undefined, parse: (value: Json | undefined) => T): T | null {
  try {
    return parse(value);
  } catch {
    return null;
  }
}

function nothing(error: unknown): undefined {
  if (error instanceof RpcError) return undefined;
  throw error;
}
