/** The engine's pace and bounds. Times are in milliseconds. */
export interface EngineTiming {
  /** The most pending transactions that one step of a lane takes up. */
  batch: number;
  /** The most transactions of a lane that are signed and not in a block; nodes drop what exceeds their own bounds. */
  inFlight: number;
  /** The first look at a transaction after a node took it, and the grid to which looks are rounded. */
  lookMs: number;
  /** The longest pause between two looks at a transaction. */
  lookCapMs: number;
  /** The first pause after something failed; it doubles up to `retryCapMs`. */
  retryMs: number;
  retryCapMs: number;
  /** How long a node's silence about a transaction lasts before it is offered the same bytes again. */
  reofferMs: number;
  /** How often a node is asked at most which of the lane's transactions its pool has. */
  poolMs: number;
  /** How long it must be unproved what used a transaction's sequence before nothing is done for it but looking. */
  unprovedMs: number;
  /** The pause between two such looks. */
  asideMs: number;
  /** How long every node must refuse bytes for what they are before their sequence is taken by nothing. */
  refusalMs: number;
  /** The pause before a further attempt is tried again that could not be made. */
  furtherMs: number;
  /** How long an intent that cannot be carried out is tried before it is refused. */
  intentMs: number;
  /** How long what the chain's clock told is kept, while an end by time hangs on it. */
  momentMs: number;
  /** How long a chain must contradict what the store knows of the account's sequence before the chain is believed. */
  driftMs: number;
  /** The longest time between two searches of the store for due work. */
  sweepMs: number;
  /** The shortest time between two such searches. */
  sweepFloorMs: number;
  /** How long a lane that has nothing to do keeps its lease. */
  idleMs: number;
  /** How long the start waits for the first check of the relayers. */
  firstCheckMs: number;
  /** The pauses before the repeated checks of a disabled relayer; the last one recurs. */
  recheckMs: readonly number[];
  /** Within this time each relayer that is fit is checked once. */
  healthMs: number;
  /** The pause after which a check that found a fit relayer unfit is made again before it is believed. */
  confirmMs: number;
  /** How long a check waits while no endpoint answers anything: a node that hangs is seen before a call to it is given up. */
  checkMs: number;
  /** The longest pause between two looks at who is to swap by the clock, while somebody is. */
  swapMs: number;
  /** How often the balance of who swaps when there is little is looked at. */
  swapBalanceMs: number;
  /** How long the end waits for the steps under way; cutting one off costs nothing that is not found again. */
  closeMs: number;
}

/** The pace of the service. `recheckMs` is the reference's. */
export const defaultTiming: EngineTiming = {
  batch: 128,
  inFlight: 512,
  lookMs: 100,
  lookCapMs: 4_000,
  retryMs: 500,
  retryCapMs: 15_000,
  reofferMs: 20_000,
  poolMs: 1_000,
  unprovedMs: 20_000,
  asideMs: 25_000,
  refusalMs: 5_000,
  furtherMs: 5_000,
  intentMs: 30_000,
  momentMs: 2_000,
  driftMs: 15_000,
  sweepMs: 5_000,
  sweepFloorMs: 50,
  idleMs: 30_000,
  firstCheckMs: 3_000,
  recheckMs: [10_000, 20_000, 30_000, 45_000, 60_000],
  healthMs: 60_000,
  confirmMs: 2_000,
  checkMs: 5_000,
  swapMs: 1_000,
  swapBalanceMs: 30_000,
  closeMs: 4_000,
};

/** The pause after the given number of failures (from 1): doubling, capped, with up to a quarter taken off at random. */
export function backOff(failures: number, timing: EngineTiming, random: () => number): number {
  const doubled = timing.retryMs * 2 ** Math.min(failures - 1, 20);
  return Math.ceil(Math.min(doubled, timing.retryCapMs) * (1 - random() / 4));
}

/**
 * When to look next at a transaction: the older it is, the rarer, so that fast chains are followed closely and slow
 * ones at about their own pace. Rounded up to the grid, so that one question serves all that are due around then.
 */
export function nextLook(now: number, since: number, timing: EngineTiming): number {
  const pause = Math.min(Math.max((now - since) / 4, timing.lookMs), timing.lookCapMs);
  return Math.ceil((now + pause) / timing.lookMs) * timing.lookMs;
}
