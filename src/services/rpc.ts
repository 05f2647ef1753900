import { AppError } from '../domain/errors.ts';
import type { Effect } from '../domain/idempotency.ts';
import type { RpcOutcome } from '../egress/rpc-client.ts';
import type { Store, StoredEffect } from '../store/store.ts';
import { earlierEffect } from './effects.ts';
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
      const known = outcomeOf(await earlierEffect(store.read, keyed), body);
      if (known !== undefined) return known;
      const { client } = await relayers.findActive(relayerId);
      if (keyed === undefined) return client().rpc(body);

      // A node takes no part in a commit: that it will be asked is noted before, what it answered after.
      const begunElsewhere = outcomeOf(await begin(store, keyed), body);
      if (begunElsewhere !== undefined) return begunElsewhere;
      const outcome = await client().rpc(body);
      if (outcome.error === undefined) {
        await store.write((writer) => writer.settleEffect(keyed, { ...outcome }));
      }
      return outcome;
    },
  };
}

/** What is to be answered without asking the node. @throws AppError `EFFECT_UNKNOWN` when asking again could act twice */
function outcomeOf(earlier: StoredEffect | undefined, body: unknown): RpcOutcome | undefined {
  if (earlier?.outcome !== undefined) return earlier.outcome as unknown as RpcOutcome;
  if (earlier === undefined || TAKES_SIGNED_BYTES.test(methodOf(body) ?? '')) return undefined;
  throw new AppError('EFFECT_UNKNOWN', {});
}

/** Notes that an effect may happen from now on, or resolves with what an earlier run noted. */
async function begin(store: Store, effect: Effect): Promise<StoredEffect | undefined> {
  return await store.write(async (writer) => {
    const earlier = await earlierEffect(writer, effect);
    if (earlier === undefined) await writer.insertEffect(effect, {});
    return earlier;
  });
}

function methodOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('method' in body)) return undefined;
  return typeof body.method === 'string' ? body.method : undefined;
}
