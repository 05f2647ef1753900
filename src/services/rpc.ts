import { invalidRequest } from '../domain/errors.ts';
import type { Json, JsonObject } from '../domain/json.ts';
import type { RelayerDirectory } from './relayer-access.ts';
import type { RpcService } from './services.ts';

/** JSON-RPC calls that are passed through to a relayer's network. */
export function createRpcService(relayers: RelayerDirectory): RpcService {
  return {
    async call(relayerId, body) {
      const { client } = await relayers.findActive(relayerId);
      return client().rpc(parseCall(body));
    },
  };
}

/** The call with defaults filled in: `id` absent is 1, null is none; `params` absent is null; `jsonrpc` is ignored. */
function parseCall(body: unknown): JsonObject {
  const call = isObject(body) ? body : {};
  const { method, params = null, id = 1 } = call;
  if (typeof method !== 'string' || method === '') throw invalidRequest("Missing 'method' field");
  if (id !== null && typeof id !== 'string' && !Number.isSafeInteger(id)) {
    throw invalidRequest("Invalid 'id' field: must be a string, integer, or null");
  }
  return { jsonrpc: '2.0', method, params, ...(id === null ? {} : { id }) };
}

function isObject(value: unknown): value is { [key: string]: Json | undefined } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
