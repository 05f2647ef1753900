import type { ChainClient } from '../chains/client.ts';
import { onlyReads } from '../chains/registry.ts';
import { AppError, invalidRequest } from '../domain/errors.ts';
import type { Effect } from '../domain/idempotency.ts';
import type { Json } from '../domain/json/json.ts';
import type { RpcOutcome } from '../egress/rpc/rpc-client.ts';
import type { Store } from '../store/store.ts';
import { beginEffect, earlierEffect, settleEffect } from './effects.ts';
import type { RelayerDirectory } from './relayer-access.ts';
import type { RpcService } from './services.ts';

/** Takes bytes that are signed already; a chain executes them once, however often they arrive. */
const TAKES_SIGNED_BYTES = /^(eth_sendRawTransaction|sendTransaction$)/;

/** The most calls in one request, as common clients group them. */
const MOST_CALLS = 1_000;
const CALLS_AT_ONCE = 32;

/** Whether a JSON-RPC call may do more than read: what is not known to only read may, and what cannot be read here. */
export function rpcMayAct(body: unknown): boolean {
  const method = methodOf(body);
  return method === undefined || !onlyReads(method);
}

/** JSON-RPC calls that are passed through to a relayer's network, which reads each call itself. */
export function createRpcService(relayers: RelayerDirectory, store: Store): RpcService {
  async function pass(
    relayerId: string,
    bodies: readonly unknown[],
    effect: Effect | undefined,
    ask: (client: ChainClient, body: unknown) => Promise<RpcOutcome>,
  ): Promise<RpcOutcome[]> {
    // Without a method a call is refused, and nothing is there to be noted.
    const mayAct = (body: unknown) => methodOf(body) !== undefined && rpcMayAct(body);
    const keyed = bodies.some(mayAct) ? effect : undefined;
    const earlier = await earlierEffect(store.read, keyed);
    if (earlier?.outcome !== undefined) return earlier.outcome as unknown as RpcOutcome[];
    // Asking again could act twice.
    if (earlier !== undefined && !bodies.filter(mayAct).every(takesSignedBytes))
      throw new AppError('EFFECT_UNKNOWN', {});
    const { client } = await relayers.findActive(relayerId);
    // A node takes no part in a commit: that it will be asked is noted before, what it answered after.
    if (keyed !== undefined && earlier === undefined) await beginEffect(store, keyed);
    const outcomes: RpcOutcome[] = [];
    for (let start = 0; start < bodies.length; start += CALLS_AT_ONCE) {
      const some = bodies.slice(start, start + CALLS_AT_ONCE);
      outcomes.push(...(await Promise.all(some.map((body) => ask(client(), body)))));
    }
    if (keyed === undefined) return outcomes;
    // A request that is nothing but these calls may be tried again; a plugin goes on by what the node said.
    const isDone = outcomes.every(({ error }, index) => error === undefined || !mayAct(bodies[index]));
    if (isDone || keyed.isStep) await settleEffect(store, keyed, outcomes as unknown as Json);
    return outcomes;
  }

  return {
    async call(relayerId, body, effect) {
      const [outcome] = await pass(relayerId, [body], effect, (client, one) => client.rpc(one));
      if (outcome === undefined) throw new Error('a call has an outcome');
      return outcome;
    },

    async batch(relayerId, bodies, effect) {
      if (bodies.length === 0 || bodies.length > MOST_CALLS) {
        throw invalidRequest(`A JSON-RPC batch holds 1 to ${MOST_CALLS} calls, not ${bodies.length}`);
      }
      return pass(relayerId, bodies, effect, (client, body) => client.rpc(body).catch(noCall));
    },
  };
}

/** What is no call is an entry of its own in the answer to a batch (JSON-RPC 2.0, section 6). */
function noCall(error: unknown): RpcOutcome {
  if (!(error instanceof AppError) || error.code !== 'INVALID_REQUEST') throw error;
  return { jsonrpc: '2.0', error: { code: -32_600, message: 'Invalid Request', description: error.message } };
}

function takesSignedBytes(body: unknown): boolean {
  return TAKES_SIGNED_BYTES.test(methodOf(body) ?? '');
}

function methodOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('method' in body)) return undefined;
  return typeof body.method === 'string' ? body.method : undefined;
}
