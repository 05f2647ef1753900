import { chainOfLane } from '../../domain/transaction/lane.ts';
import type { LaneStep } from '../lane/lane-step.ts';
import type { Sender } from '../lane/sender.ts';
import { knownOf, type SequenceFigures } from './sequence-planner.ts';

/** What the chain and the store say of the account's sequences, as some of the lane's senders see the chain. */
export async function sequenceFigures(step: LaneStep, senders: readonly Sender[]): Promise<SequenceFigures> {
  const held = new Set([...step.open.entries.values()].flatMap(({ transaction: { sequence } }) => sequence ?? []));
  const settled = await step.open.settled();
  const least = knownOf({ held, settled });
  const identity = chainOfLane(step.key);
  const sources = [...new Map(senders.map((sender) => [sender.client, sender])).values()];
  const counts = await Promise.all(
    sources.flatMap(({ client, account }) => client.sequences?.next(account.address, identity, least) ?? []),
  );
  // The highest answer, when relayers of one account use different endpoints: the lower one lags behind.
  const chain = counts.reduce((highest, count) => (count > highest ? count : highest), 0n);
  return { chain, held, settled, ...(step.chain.counter?.beginsAnew === true && { beginsAnew: true }) };
}
