import { messageOf } from '../domain/errors.ts';
import type { Json } from '../domain/json/json.ts';
import type { Network } from '../domain/network.ts';
import type { ParseAnswer, RpcClient } from '../egress/rpc/rpc-client.ts';
import { providerFailed } from './provider-failure.ts';

/** How to find the right chain among those that endpoints serve. */
export interface ServedQuestion<T extends bigint | string> {
  method: string;
  /** Absent: an empty list. */
  params?: Json;
  served: ParseAnswer<T>;
  /** What the answer names, in words: `chain id`. */
  what: string;
  /** The chain that is declared for the network, or was found before; null while it is unknown. */
  expected: T | null;
  /** Called for each endpoint that answers, with the chain that it says it serves. */
  onServed(host: string, chain: T): void;
}

/**
 * Asks every endpoint which chain it serves. One endpoint that serves the expected chain is enough; endpoints that
 * serve another chain or do not answer are left out. Without an expected chain, all endpoints that answer have to
 * agree, because nothing tells which one is right.
 * @throws AppError `PROVIDER_FAILED`
 */
export async function servedChain<T extends bigint | string>(
  network: Network,
  rpc: RpcClient,
  question: ServedQuestion<T>,
): Promise<T> {
  const { expected, onServed, params = [] } = question;
  const hosts = network.rpcUrls.filter(({ weight }) => weight > 0).map(({ url }) => new URL(url).host);
  const told: { host: string; chain: T }[] = [];
  let reason = 'no endpoint is switched on';
  for (const [index, answer] of (await rpc.each(question.method, params)).entries()) {
    const host = String(hosts[index]);
    const chain = parsed(answer, question.served);
    if (chain === undefined) {
      reason = answer.status === 'rejected' ? messageOf(answer.reason) : `${host} has no ${question.what}`;
      continue;
    }
    told.push({ host, chain });
    onServed(host, chain);
  }
  const [first] = told;
  if (first === undefined) throw providerFailed(network.name, reason);

  const right = expected ?? first.chain;
  const stray = told.find(({ chain }) => chain !== right);
  const isServed = told.some(({ chain }) => chain === right);
  if (stray === undefined || (expected !== null && isServed)) return right;
  throw providerFailed(network.name, `${stray.host} serves chain ${stray.chain}, not ${right}`);
}

/** Undefined where there is no answer, or none that can be read. */
function parsed<T>(answer: PromiseSettledResult<Json> | undefined, parse: ParseAnswer<T>): T | undefined {
  if (answer?.status !== 'fulfilled') return undefined;
  try {
    return parse(answer.value);
  } catch {
    return undefined;
  }
}
