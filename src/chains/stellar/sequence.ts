import { EndpointUnfit, type ReadFromEndpoint, type RpcClient } from '../../egress/rpc/rpc-client.ts';
import { answersInTime, medianOf } from '../quorum.ts';
import { getAccount } from './rpc-calls.ts';

/**
 * The sequence that the account's next transaction needs. Nodes do not count transactions that wait at them. All
 * endpoints are asked where the first answer is below `least`, or where nothing is known of the account. Of two answers
 * the higher one counts: the other node is behind. Any leap ahead is believed: leaps are ordinary here, and a
 * transaction that is signed after a lie expires.
 * @param least the expected sequence; undefined takes one node's word, null that of most
 */
export async function nextSequence(rpc: RpcClient, address: string, least: bigint | null | undefined): Promise<bigint> {
  const reply = await rpc.onOne((read) => nextBy(read, address));
  if (rpc.endpointCount < 2 || least === undefined || (least !== null && reply >= least)) return reply;
  const all = await answersInTime(rpc.onAll((read) => nextBy(read, address)));
  return medianOf(all, 'higher') ?? reply;
}

async function nextBy(read: ReadFromEndpoint, address: string): Promise<bigint> {
  const { account } = await getAccount(read, address);
  // The node may be behind, and another node may know the account.
  if (account === null) throw new EndpointUnfit(`account ${address} does not exist`, { pauseMs: 0 });
  return account.sequence + 1n;
}
