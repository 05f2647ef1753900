import type { RelayerDirectory } from './relayer-access.ts';
import type { RpcService } from './services.ts';

/** JSON-RPC calls that are passed through to a relayer's network, which reads the call itself. */
export function createRpcService(relayers: RelayerDirectory): RpcService {
  return {
    async call(relayerId, body) {
      const { client } = await relayers.findActive(relayerId);
      return client().rpc(body);
    },
  };
}
