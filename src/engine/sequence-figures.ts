import type { SequenceAt } from '../chains/chain.ts';
import { chainOfLane } from '../domain/lane.ts';
import type { Timestamp } from '../domain/transaction.ts';
import type { Filler } from '../store/store.ts';
import type { LaneStep } from './lane-step.ts';
import { signedAt } from './open-book.ts';
import type { Sender } from './sender.ts';
import type { SequenceFigures } from './sequence-planner.ts';
import { hasGap, reached } from './sequence-reach.ts';

/** What the chain and the store say of the account's sequences, as some of the lane's senders see the chain. */
export async function sequenceFigures(step: LaneStep, senders: readonly Sender[]): Promise<SequenceFigures> {
  const held = new Set<bigint>();
  let mined: bigint | null = null;
  for (const { transaction } of step.open.values()) {
    const { sequence, status } = transaction;
    if (sequence === null) continue;
    held.add(sequence);
    if (status === 'mined' && (mined === null || sequence >= mined)) mined = sequence + 1n;
  }
  const [known, settled] = await Promise.all([step.knownSequence(), step.settled()]);
  const sources = [...new Map(senders.map((sender) => [sender.client, sender])).values()];
  const identity = chainOfLane(step.key);
  const signed = { held, known, mined, settled: settled?.sequence ?? null };
  // What was signed beyond a count that was made up must not make the next such count look right.
  const come = known === null ? 0n : reached(signed);
  const least = come === 0n ? null : come;
  // The highest answer, when relayers of one account use different endpoints: the lower one lags behind.
  const counts = await Promise.all(
    sources.map(({ client, account }) => client.nextSequence(account.address, identity, least)),
  );
  const chain = counts.reduce((highest, count) => (count > highest ? count : highest));
  const allSay = async (question: 'hasLost' | 'isNoFurther', about: SequenceAt): Promise<boolean> => {
    const told = await Promise.allSettled(
      sources.map(({ client, account }) => client[question](account.address, identity, about)),
    );
    return told.every((one) => one.status === 'fulfilled' && one.value);
  };
  const fillers = hasGap(chain, held) ? await step.fillers() : [];
  return {
    chain,
    ...signed,
    paidFor: (sequence) => paidFor(step, fillers, sequence),
    isLost: async () => settled === null || (await allSay('hasLost', settled)),
    isNoFurther: (from) => allSay('isNoFurther', { sequence: chain, at: lastSignedAt(step, from) }),
  };
}

/** What was filled below an open transaction before it was signed was not for it. */
function paidFor(step: LaneStep, fillers: readonly Filler[], open: bigint): bigint {
  if (fillers.length === 0) return 0n;
  const entry = [...step.open.values()].find(({ transaction }) => transaction.sequence === open);
  if (entry === undefined) return 0n;
  const since = signedAt(entry);
  return BigInt(fillers.filter(({ sequence, at }) => sequence < open && at >= since).length);
}

/** When the latest of the open transactions from the given sequence on was signed. */
function lastSignedAt(step: LaneStep, from: bigint): Timestamp {
  const signed = [...step.open.values()].filter(
    ({ transaction: { sequence } }) => sequence !== null && sequence >= from,
  );
  return Math.max(0, ...signed.map(signedAt));
}
