import type { EndCode, Limits } from '../../../sandbox/contract.ts';

/** A hostile guest program, and the ends that count as contained. */
export interface Attack {
  readonly name: string;
  /** The row of the threat list that this attack tests; null for one of our own variations. */
  readonly threat: number | null;
  /**
   * What is needed to get processor and memory back: from a time limit (R0) up to ending the process (R3), or nothing
   * seen (R4).
   */
  readonly recovery: 'R0' | 'R1' | 'R2' | 'R3' | 'R4' | null;
  /** Statements of an async handler's body in strict mode; `context` is in scope. */
  readonly body: string;
  /**
   * The ends that count as contained. If only `returned` is given, the probe throws when it finds what it must not
   * find.
   */
  readonly ends: readonly (EndCode | 'returned' | 'threw')[];
  /** Limits that the attack needs in addition to its runner's limits. */
  readonly limits?: Partial<Limits>;
}

/** Which of the two limits is reached first depends on the machine. */
export const TIME_OR_MEMORY = ['CPU_LIMIT', 'MEMORY_LIMIT'] as const;

/** As {@link TIME_OR_MEMORY}, for attacks that the engine may also refuse or that may also end the process. */
export const ANY_DEATH = ['CPU_LIMIT', 'MEMORY_LIMIT', 'SANDBOX_LOST', 'threw'] as const;
