import { EndpointUnfit, type ReadOne, type RpcClient } from '../../../egress/rpc/rpc-client.ts';
import { answersInTime } from '../../quorum.ts';
import { standing } from '../provider.ts';

/** A blockhash serves for so many blocks (`MAX_PROCESSING_AGE`). */
export const BLOCKHASH_LIFE = 150n;

/** Two nodes of one chain that lie further apart are not both to be believed: minutes. */
const FURTHEST_APART = 1_000n;

/**
 * The last height at which a blockhash serves, by what one node said and where others are. Its transaction counts as alive
 * up to there, so a node that is wrong about it must neither have it die too early nor never.
 * @throws EndpointUnfit when every other endpoint that answers is somewhere else
 */
export async function lastHeight(rpc: RpcClient, read: ReadOne, told: bigint): Promise<bigint> {
  if (rpc.endpointCount < 2) return told;
  const isNear = (height: bigint) => distance(height + BLOCKHASH_LIFE, told) <= FURTHEST_APART;
  const asked = rpc.onOthers(read, async (other) => (await standing(other, 'processed')).height);
  const heights = await answersInTime(asked, { isEnough: isNear });
  const near = heights.filter(isNear);
  if (heights.length > 0 && near.length === 0) {
    throw new EndpointUnfit(`it is near height ${told - BLOCKHASH_LIFE}, and others at ${heights.join(', ')}`, {
      pauseMs: 0,
    });
  }
  return near.map((height) => height + BLOCKHASH_LIFE).reduce((most, last) => (last > most ? last : most), told);
}

function distance(one: bigint, other: bigint): bigint {
  return one > other ? one - other : other - one;
}
