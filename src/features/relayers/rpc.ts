import { createHash } from 'node:crypto';
import type { LocalRpcMethod } from '../../chains/chain-client.ts';
import { readClientCall } from '../../chains/pass-through.ts';
import { isPassThroughRead, isReadOnlyRpcMethod, localRpcMethodKind, takesSignedBytes } from '../../chains/registry.ts';
import { AppError, invalidRequest } from '../../domain/errors.ts';
import type { KeyedEffect } from '../../domain/idempotency.ts';
import type { Json } from '../../domain/json/json.ts';
import { writeJson } from '../../domain/json/json-text.ts';
import type { RpcOutcome } from '../../egress/rpc/rpc-client.ts';
import type { Store } from '../../store/store.ts';
import type { Actor } from '../api-keys/records/caller.ts';
import { auditPassThrough } from '../audit/audit-records.ts';
import type { RelayerGrant } from '../plugins/records/plugin.ts';
import { beginEffect, earlierEffect, settleEffect, writeEffectOnce } from '../recorded-effects.ts';
import type { CallTerms, RpcService } from '../services.ts';
import type { RunLocalRpc } from './local-rpc.ts';
import type { RelayerAccess, RelayerDirectory } from './relayer-access.ts';

/** The most calls in one request, as common clients group them. */
export const MAX_RPC_CALLS = 1_000;
const CALLS_AT_ONCE = 32;

/**
 * Whether a JSON-RPC call may do more than read. A method that is not known to only read may, and so may a call without
 * a readable method.
 */
export function rpcMayAct(body: unknown): boolean {
  const method = methodOf(body);
  return method === undefined || !isReadOnlyRpcMethod(method);
}

/**
 * Returns the rights that a call needs. `rpc` is for reading. The family's own methods that sign or send need `sign` or
 * `send`. Signed bytes need `send` as well. Any other method may make the node sign with accounts that it holds, or
 * change the node, so it needs `send` and `sign` as well.
 */
export function rpcRights(body: unknown): readonly RelayerGrant[] {
  const method = methodOf(body);
  // A call without a method is refused.
  if (method === undefined) return ['rpc'];
  const kind = localRpcMethodKind(method);
  if (kind === 'sign' || kind === 'send') return [kind];
  if (kind === 'answer' || isPassThroughRead(method)) return ['rpc'];
  return takesSignedBytes(method) ? ['rpc', 'send'] : ['rpc', 'send', 'sign'];
}

export interface RpcDeps {
  relayers: RelayerDirectory;
  store: Store;
  runOwn: RunLocalRpc;
}

/** Runs JSON-RPC calls. The relayer's family answers some methods itself. All others are passed on to a node. */
export function createRpcService({ relayers, store, runOwn }: RpcDeps): RpcService {
  async function pass(
    relayerId: string,
    bodies: readonly unknown[],
    { effect, actor }: CallTerms,
    ask: (access: RelayerAccess, body: unknown, index: number) => Promise<RpcOutcome>,
  ): Promise<RpcOutcome[]> {
    // A call without a method is refused, so there is nothing to record.
    const mayAct = (body: unknown) => methodOf(body) !== undefined && rpcMayAct(body);
    const keyed = bodies.some(mayAct) ? effect : undefined;
    const earlier = await earlierEffect(store.read, keyed);
    if (earlier?.outcome !== undefined) return earlier.outcome as unknown as RpcOutcome[];
    const known = await relayers.find(relayerId);
    // Another call could act twice.
    if (earlier !== undefined && !bodies.filter(mayAct).every((body) => mayBeAskedTwice(known, body)))
      throw new AppError('EFFECT_UNKNOWN', {});
    const access = await relayers.enter(relayerId, bodies.length);
    await noteActing(access, bodies, actor);
    // A node's action cannot be part of a commit. So the start is recorded before the call, and the outcome after it.
    if (keyed !== undefined && earlier === undefined) await beginEffect(store, keyed);
    const outcomes: RpcOutcome[] = [];
    for (let start = 0; start < bodies.length; start += CALLS_AT_ONCE) {
      const some = bodies.slice(start, start + CALLS_AT_ONCE);
      outcomes.push(...(await Promise.all(some.map((body, index) => ask(access, body, start + index)))));
    }
    if (keyed === undefined) return outcomes;
    // After an error, a plain request may be tried again, so no outcome is recorded. A plugin has already acted on the
    // node's answer, so its outcome is recorded.
    const isDone = outcomes.every(({ error }, index) => error === undefined || !mayAct(bodies[index]));
    if (isDone || keyed.isStep) await settleEffect(store, keyed, storable(outcomes));
    return outcomes;
  }

  /** Records the calls that a node may act on, before they reach it. */
  async function noteActing(
    access: RelayerAccess,
    bodies: readonly unknown[],
    actor: Actor | undefined,
  ): Promise<void> {
    const { methods } = access.client();
    const acting = bodies.filter((body) => {
      const method = methodOf(body);
      return method !== undefined && methods?.has(method) !== true && !isPassThroughRead(method);
    });
    if (acting.length === 0 || actor === undefined) return;
    await store.write(async (writer) => {
      for (const body of acting) await auditPassThrough(writer, actor, access.relayer.id, body);
    });
  }

  /** A call that sends is accepted in one commit with its effect, like any other transaction. */
  async function sendOwn(
    relayerId: string,
    body: unknown,
    method: LocalRpcMethod,
    { effect, spender, actor }: CallTerms,
  ): Promise<RpcOutcome> {
    const earlier = await earlierEffect(store.read, effect);
    if (earlier !== undefined && earlier.transactionId === null) return earlier.outcome as unknown as RpcOutcome;
    const outcome = await runOwn(relayerId, body, method, { effect, spender, actor });
    if (outcome.error === undefined || effect?.isStep !== true) return outcome;
    // Nothing was accepted, but a plugin acts on this outcome. So it is recorded.
    await writeEffectOnce(store, effect, async () => ({ outcome: storable(outcome) }));
    return outcome;
  }

  function askIn({ effect, actor, maySpend }: CallTerms) {
    return (access: RelayerAccess, body: unknown, index: number): Promise<RpcOutcome> => {
      const client = access.client();
      const own = client.methods?.get(methodOf(body) ?? '');
      if (own === undefined) return client.rpc(body);
      return runOwn(access.relayer.id, body, own, { effect: effect && partOf(effect, index), actor, maySpend });
    };
  }

  return {
    async call(relayerId, body, by = {}) {
      const { client } = await relayers.find(relayerId);
      const own = client().methods?.get(methodOf(body) ?? '');
      if (own?.kind === 'send') return sendOwn(relayerId, body, own, by);
      const [outcome] = await pass(relayerId, [body], by, askIn(by));
      if (outcome === undefined) throw new Error('a call has an outcome');
      return outcome;
    },

    async batch(relayerId, bodies, by = {}) {
      if (bodies.length === 0 || bodies.length > MAX_RPC_CALLS) {
        throw invalidRequest(`A JSON-RPC batch holds 1 to ${MAX_RPC_CALLS} calls, not ${bodies.length}`);
      }
      const ask = askIn(by);
      return pass(relayerId, bodies, by, (access, body, index) =>
        ask(access, body, index).catch((error: unknown) => ({ ...noCall(error), ...echoOf(body) })),
      );
    },
  };
}

/** Turns an error into an entry of a batch's answer: it does not affect the other calls (JSON-RPC 2.0, section 6). */
function noCall(error: unknown): RpcOutcome {
  if (!(error instanceof AppError)) throw error;
  const [code, message] = error.code === 'INVALID_REQUEST' ? [-32_600, 'Invalid Request'] : [-32_603, error.code];
  return { jsonrpc: '2.0', error: { code, message, description: error.message } };
}

/** Returns the id of a call, if an answer can have that id. */
function echoOf(body: unknown): Pick<RpcOutcome, 'id'> {
  try {
    const { id } = readClientCall(body);
    return id === null ? {} : { id };
  } catch {
    return {};
  }
}

/**
 * Whether a call may safely be repeated. The family's own signatures may, and its own sends have effects of their own.
 * The chain executes signed bytes once, however often they arrive.
 */
function mayBeAskedTwice({ chain, client }: RelayerAccess, body: unknown): boolean {
  const method = methodOf(body) ?? '';
  return client().methods?.has(method) === true || chain.takesSignedBytes?.(method) === true;
}

/** The effect of one call of a batch. */
function partOf(effect: KeyedEffect, index: number): KeyedEffect {
  const payloadHash = createHash('sha256').update(`${effect.payloadHash} ${index}`).digest('hex');
  // The journal is read at the commit, and not before the action that comes first.
  return {
    ...effect,
    payloadHash,
    get journal() {
      return effect.journal;
    },
  };
}

/** Converts outcomes for the store. Integers beyond 2^53 lose digits. */
function storable(outcome: RpcOutcome | RpcOutcome[]): Json {
  return JSON.parse(writeJson(outcome)) as Json;
}

function methodOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('method' in body)) return undefined;
  return typeof body.method === 'string' ? body.method : undefined;
}
