import { AppError } from '../domain/errors.ts';
import type { RpcOutcome } from '../egress/rpc-client.ts';
import type { Store } from '../store/store.ts';
import { beginEffect, type EarlierEffect, earlierEffect, settleEffect } from './effects.ts';
import type { RelayerDirectory } from './relayer-access.ts';
import type { RpcService } from './services.ts';

/** Methods that may put something on a chain: `eth_sendRawTransaction`, `sendTransaction`, `submit…`. */
const EFFECTIVE = /send|submit|publish|(^|_)sign/i;

/** Takes bytes that are signed already; a chain executes them once, however often they arrive. */
const TAKES_SIGNED_BYTES = /^(eth_sendRawTransaction|sendTransaction$)/;

/** Whether a JSON-RPC call may do more than read; so may one that cannot be read here. */
export function rpcMayAct(body: unknown): boolean {
  const method = methodOf(body);
  return method === undefined || EFFECTIVE.test(method);
}

/** JSON-RPC calls that are passed through to a relayer's network, which reads the call itself. */
export function createRpcService(relayers: RelayerDirectory, store: Store): RpcService {
  return {
    async call(relayerId, body, effect) {
      // Without a method it is refused, and nothing is there to be noted.
      const keyed = methodOf(body) !== undefined && rpcMayAct(body) ? effect : undefined;
      const earlier = await earlierEffect(store.read, keyed);
      const known = outcomeOf(earlier, body);
      if (known !== undefined) return known;
      const { client } = await relayers.findActive(relayerId);
      if (keyed === undefined) return client().rpc(body);

      // A node takes no part in a commit: that it will be asked is noted before, what it answered after.
      if (earlier === undefined) await beginEffect(store, keyed);
      const outcome = await client().rpc(body);
      // A request that is nothing but this call may be tried again; a plugin goes on by what the node said.
      if (outcome.error === undefined || keyed.isStep) await settleEffect(store, keyed, { ...outcome });
      return outcome;
    },
  };
}

/** What is to be answered without asking the node. @throws AppError `EFFECT_UNKNOWN` when asking again could act twice */
function outcomeOf(earlier: EarlierEffect | undefined, body: unknown): RpcOutcome | undefined {
  if (earlier?.outcome !== undefined) return earlier.outcome as unknown as RpcOutcome;
  if (earlier === undefined || TAKES_SIGNED_BYTES.test(methodOf(body) ?? '')) return undefined;
  throw new AppError('EFFECT_UNKNOWN', {});
}

function methodOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('method' in body)) return undefined;
  return typeof body.method === 'string' ? body.method : undefined;
}
