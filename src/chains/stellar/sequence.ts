import { EndpointUnfit, type ReadOne, type RpcClient } from '../../egress/rpc/rpc-client.ts';
import { answersInTime, middleOf } from '../quorum.ts';
import { accountAt } from './provider.ts';

/**
 * The sequence that the account's next transaction needs. Nodes do not count what waits at them. Where one's answer is
 * below the expected, or nothing is known of the account, all are asked, and the higher of two counts: the other is
 * behind. Any leap ahead is believed: it is ordinary here, and a lie dies with the transaction's time.
 * @param least what it should be; undefined takes one node's word, null that of most
 */
export async function nextSequence(rpc: RpcClient, address: string, least: bigint | null | undefined): Promise<bigint> {
  const told = await rpc.onOne((read) => nextBy(read, address));
  if (rpc.endpointCount < 2 || least === undefined || (least !== null && told >= least)) return told;
  const all = await answersInTime(rpc.onAll((read) => nextBy(read, address)));
  return middleOf(all, 'higher') ?? told;
}

async function nextBy(read: ReadOne, address: string): Promise<bigint> {
  const { account } = await accountAt(read, address);
  // It may be behind, and another node may know the account.
  if (account === null) throw new EndpointUnfit(`account ${address} does not exist`, { pauseMs: 0 });
  return account.sequence + 1n;
}
