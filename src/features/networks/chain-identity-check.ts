import { type Chain, isSameChain } from '../../chains/chain.ts';
import type { ChainConnections, RelayerEndpoints } from '../../chains/connections.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { StoreReader } from '../../store/store.ts';

export interface OtherChainDeps {
  read: Pick<StoreReader, 'chainIdentity'>;
  connections: Pick<ChainConnections, 'clientOf'>;
}

/** How long endpoints may take to say which chain they serve. */
const IDENTITY_MS = 3_000;

/**
 * Refuses endpoints that serve another chain than the network's known one, because transactions would be signed for
 * that chain. Accepts endpoints that do not answer now. The next check then disables their relayers until they answer.
 * @param field the field of the body
 * @throws AppError `INVALID_REQUEST`
 */
export async function refuseOtherChain(
  { read, connections }: OtherChainDeps,
  chain: Pick<Chain, 'restartable'>,
  served: RelayerEndpoints,
  field: 'custom_rpc_urls' | 'rpc_urls',
): Promise<void> {
  const { networkType, network } = served;
  const pinned = await read.chainIdentity(networkType, network);
  if (pinned === undefined) return;
  const told: string[] = [];
  const asked = async () => {
    await connections.clientOf(served).identity(pinned, (_, identity) => told.push(identity));
  };
  await withTimeout(
    IDENTITY_MS,
    asked().catch(() => {}),
  );
  const other = told.find((identity) => !isSameChain(chain, identity, pinned));
  if (other === undefined) return;
  throw invalidRequest(`${field}: the endpoints serve chain ${other}, but network ${network} is chain ${pinned}`);
}
