/** The engine's pace and bounds. Times are in milliseconds. */
export interface EngineTiming {
  /** The most pending transactions that one step of a lane takes up. */
  batch: number;
  /** The most transactions of a lane that are signed and in no block. Nodes drop what exceeds their own bounds. */
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
  /** The shortest pause between two questions to a node about which of the lane's transactions its pool has. */
  poolMs: number;
  /**
   * How long a transaction's sequence must be used, without proof by which transaction, before the lane only looks for
   * it.
   */
  unprovedMs: number;
  /** The pause between two looks at a transaction for which `unprovedMs` is over. */
  unresolvedLookMs: number;
  /** How long every node must refuse bytes because of their content before a noop takes their sequence. */
  refusalMs: number;
  /** The same for words that nobody knows, with which every node turns bytes away. */
  turnedAwayMs: number;
  /** The pause before a further attempt that could not be made is tried again. */
  furtherMs: number;
  /** How long an intent that cannot be carried out is tried before it is refused. */
  intentMs: number;
  /** How long the time that the chain told is kept, while an expiry depends on it. */
  momentMs: number;
  /** How long a chain must contradict what the store knows of the account's sequence before the chain is believed. */
  driftMs: number;
  /** The longest time between two searches of the store for due work. */
  sweepMs: number;
  /** The shortest time between two searches of the store for due work. */
  sweepFloorMs: number;
  /** How long a lane that has nothing to do keeps its lease. */
  idleMs: number;
  /** How long the start waits for the first check of the relayers. */
  firstCheckMs: number;
  /** The pauses before the repeated checks of a disabled relayer; the last one recurs. */
  recheckMs: readonly number[];
  /** The time within which each fit relayer is checked once. */
  healthMs: number;
  /** The pause before a check that found a relayer unfit is repeated; a quarter of it before its first contact. */
  confirmMs: number;
  /**
   * How long a check waits while no endpoint answers anything. It is shorter than the time limit of a call, so that a
   * node that hangs is seen earlier.
   */
  checkMs: number;
  /** The longest pause between two looks at swap schedules, while a relayer swaps. */
  swapMs: number;
  /** The pause between two looks at the balance of a relayer that swaps when it is low. */
  swapBalanceMs: number;
  /** How long closing waits for the steps under way. Cutting a step off loses nothing: its work is found again. */
  closeMs: number;
}

/** The pace of the service. The values of `recheckMs` are the reference's. */
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
  unresolvedLookMs: 25_000,
  refusalMs: 5_000,
  turnedAwayMs: 300_000,
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

/**
 * The pause after the given number of failures (from 1). It doubles up to a cap, with up to a quarter taken off at
 * random.
 */
export function backOff(failures: number, timing: EngineTiming, random: () => number): number {
  const doubled = timing.retryMs * 2 ** Math.min(failures - 1, 20);
  return Math.ceil(Math.min(doubled, timing.retryCapMs) * (1 - random() / 4));
}

/**
 * When to look at a transaction next. The older it is, the less often, so that fast chains are followed closely and
 * slow ones at about their own pace. Rounded up to the grid, so that one question serves all that are due around then.
 */
export function nextLookAt(now: number, since: number, timing: EngineTiming): number {
  const pause = Math.min(Math.max((now - since) / 4, timing.lookMs), timing.lookCapMs);
  return Math.ceil((now + pause) / timing.lookMs) * timing.lookMs;
}
