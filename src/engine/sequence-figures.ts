import { chainOfLane } from '../domain/lane.ts';
import type { LaneStep } from './lane-step.ts';
import type { Sender } from './sender.ts';
import type { SequenceFigures } from './sequence-planner.ts';

/** What the chain and the store say of the account's sequences, as some of the lane's senders see the chain. */
export async function sequenceFigures(step: LaneStep, senders: readonly Sender[]): Promise<SequenceFigures> {
  const held = new Set<bigint>();
  for (const { transaction } of step.open.values()) {
    if (transaction.sequence !== null) held.add(transaction.sequence);
  }
  const [known, settled] = await Promise.all([step.knownSequence(), step.settled()]);
  const sources = [...new Map(senders.map((sender) => [sender.client, sender])).values()];
  const identity = chainOfLane(step.key);
  // The highest answer, when relayers of one account use different endpoints: the lower one lags behind.
  const counts = await Promise.all(
    sources.map(({ client, account }) => client.nextSequence(account.address, identity, known)),
  );
  const chain = counts.reduce((highest, count) => (count > highest ? count : highest));
  return {
    chain,
    held,
    known,
    settled: settled?.sequence ?? null,
    async isLost() {
      if (settled === null) return true;
      const told = await Promise.allSettled(
        sources.map(({ client, account }) => client.hasLost(account.address, identity, settled)),
      );
      return told.every((one) => one.status === 'fulfilled' && one.value);
    },
  };
}
