import { EndpointUnfit, type ReadFromEndpoint, type RpcClient } from '../../../egress/rpc/rpc-client.ts';
import { answersInTime } from '../../quorum.ts';
import { chainTip } from '../rpc-calls.ts';

/** How many blocks a blockhash stays valid (`MAX_PROCESSING_AGE`). */
export const BLOCKHASH_LIFETIME_BLOCKS = 150n;

/** In blocks, a matter of minutes: of two nodes of one chain that are further apart, one is wrong. */
const FURTHEST_APART = 1_000n;

/**
 * The last height at which a blockhash is valid, by one node's word and the heights of the others. Its transaction
 * counts as alive up to that height. So a node with a wrong height must not end the transaction too early, or keep it
 * alive for ever.
 * @throws EndpointUnfit when every other endpoint that answers is at a height too far away
 */
export async function lastValidHeight(rpc: RpcClient, read: ReadFromEndpoint, own: bigint): Promise<bigint> {
  if (rpc.endpointCount < 2) return own;
  const isNear = (height: bigint) => distance(height + BLOCKHASH_LIFETIME_BLOCKS, own) <= FURTHEST_APART;
  const asked = rpc.onOthers(read, async (other) => (await chainTip(other, 'processed')).height);
  const heights = await answersInTime(asked, { isEnough: isNear });
  const near = heights.filter(isNear);
  if (heights.length > 0 && near.length === 0) {
    throw new EndpointUnfit(
      `it is near height ${own - BLOCKHASH_LIFETIME_BLOCKS}, and others at ${heights.join(', ')}`,
      {
        pauseMs: 0,
      },
    );
  }
  return near
    .map((height) => height + BLOCKHASH_LIFETIME_BLOCKS)
    .reduce((most, last) => (last > most ? last : most), own);
}

function distance(one: bigint, other: bigint): bigint {
  return one > other ? one - other : other - one;
}
