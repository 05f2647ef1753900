import type { Json, JsonObject } from '../../domain/json/json.ts';

type Maybe<T> = T | Promise<T>;

/**
 * A fake relayer. Functions that are left out answer like a relayer whose transactions get into a block at once. If a
 * function throws, the plugin's promise rejects with the error's text. What a relayer can beside these is a function of
 * its own name.
 */
export interface FakeRelayer {
  /** The answer of `getRelayer`: the fields that differ from an EVM relayer that is not paused. */
  info?: JsonObject;
  /** The answer of `getRelayerStatus`. */
  status?: JsonObject;
  /** Returns the answer of `sendTransaction`. An `id` is added to it. */
  send?(request: Json): Maybe<JsonObject>;
  /** Returns the answer of `getTransaction` and `wait`. */
  transaction?(id: string): Maybe<JsonObject>;
  sign?(request: Json): Maybe<JsonObject>;
  /** Returns the result of a JSON-RPC call. */
  rpc?(method: string, params: Json): Maybe<Json>;
}

/** Connects to a relayer of a running service over HTTP. Its network may be anvil, a test network or any other. */
export function relayerOfService(id: string, service: { url: string; key: string }): FakeRelayer {
  const ask = async (path: string, request?: Json): Promise<JsonObject> => {
    const answer = await fetch(`${service.url}/api/v1/relayers/${encodeURIComponent(id)}${path}`, {
      method: request === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      ...(request !== undefined && { body: JSON.stringify(request) }),
    });
    const body = (await answer.json()) as JsonObject;
    const { data, error } = body as { data?: JsonObject; error?: string };
    if (!answer.ok) throw new Error(error ?? `the service answers ${answer.status}`);
    return data ?? body;
  };
  return {
    send: (request) => ask('/transactions', request),
    transaction: (transaction) => ask(`/transactions/${encodeURIComponent(transaction)}`),
    sign: (request) => ask('/sign-transaction', request),
    async rpc(method, params) {
      const answer = await ask('/rpc', { jsonrpc: '2.0', id: 1, method, params });
      const { result, error } = answer as { result?: Json; error?: { message: string } | null };
      if (error != null) throw new Error(error.message);
      return result ?? null;
    },
  };
}
