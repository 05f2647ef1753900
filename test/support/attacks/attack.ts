import type { EndCode, Limits } from '../../../sandbox/protocol.ts';

/** A hostile guest program, and the ends that count as contained. */
export interface Attack {
  readonly name: string;
  /** The row of the list of sandbox threats that it stands for; null for a variation of our own. */
  readonly threat: number | null;
  /** What it takes to get processor and memory back: a time limit (R0) up to the process itself (R3), or nothing seen (R4). */
  readonly recovery: 'R0' | 'R1' | 'R2' | 'R3' | 'R4' | null;
  /** Statements of an async handler's body in strict mode; `context` is in scope. */
  readonly body: string;
  /** Any of these is contained. A probe that finds what it must not find throws where only `returned` is given. */
  readonly ends: readonly (EndCode | 'returned' | 'threw')[];
  /** What the attack needs beside the limits that whoever runs it has chosen. */
  readonly limits?: Partial<Limits>;
}

/** Whether the time or the memory is over first depends on the machine. */
export const TIME_OR_MEMORY = ['CPU_LIMIT', 'MEMORY_LIMIT'] as const;

/** As {@link TIME_OR_MEMORY}, for what the engine may also refuse or die of in other ways. */
export const ANY_DEATH = ['CPU_LIMIT', 'MEMORY_LIMIT', 'SANDBOX_LOST', 'threw'] as const;
