import type { Json, JsonObject } from '../../domain/json/json.ts';

type Maybe<T> = T | Promise<T>;

/**
 * A relayer as a test wants it. What is left out answers as a relayer would whose transactions get into a block at once.
 * Whatever a function throws, the plugin's promise rejects with the text of.
 */
export interface FakeRelayer {
  /** Of `getRelayer`: what differs from an EVM relayer that is not paused. */
  info?: JsonObject;
  /** Of `getRelayerStatus`. */
  status?: JsonObject;
  /** What `sendTransaction` resolves with, beside an `id` of its own. */
  send?(request: Json): Maybe<JsonObject>;
  /** What `getTransaction` and `wait` resolve with. */
  transaction?(id: string): Maybe<JsonObject>;
  sign?(request: Json): Maybe<JsonObject>;
  /** The result of a JSON-RPC call. */
  rpc?(method: string, params: Json): Maybe<Json>;
}

/** A relayer of a running service, over HTTP: anvil behind it, a test network, or what else it has. */
export function relayerOfService(id: string, service: { url: string; key: string }): FakeRelayer {
  const ask = async (path: string, body?: Json): Promise<JsonObject> => {
    const answer = await fetch(`${service.url}/api/v1/relayers/${encodeURIComponent(id)}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const told = (await answer.json()) as { data?: JsonObject; error?: string } & JsonObject;
    if (!answer.ok) throw new Error(told.error ?? `the service answers ${answer.status}`);
    return told.data ?? told;
  };
  return {
    send: (request) => ask('/transactions', request),
    transaction: (transaction) => ask(`/transactions/${encodeURIComponent(transaction)}`),
    sign: (request) => ask('/sign-transaction', request),
    rpc: async (method, params) => (await ask('/rpc', { jsonrpc: '2.0', id: 1, method, params }))['result'] ?? null,
  };
}
