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
  const [chain, known, settled] = await Promise.all([
    nextSequence(step, senders),
    step.knownSequence(),
    step.settledSequence(),
  ]);
  return { chain, held, known, settled };
}

/** The highest answer, when relayers of one account use different endpoints: the lower one lags behind. */
async function nextSequence({ key }: LaneStep, senders: readonly Sender[]): Promise<bigint> {
  const byClient = new Map(senders.map((sender) => [sender.client, sender]));
  const answers = await Promise.all(
    [...byClient.values()].map(({ client, account }) => client.nextSequence(account.address, chainOfLane(key))),
  );
  return answers.reduce((highest, answer) => (answer > highest ? answer : highest));
}
