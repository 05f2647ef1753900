import type { Line } from '../report.ts';
import type { SoakChain } from './chain.ts';
import type { Verdict } from './verdict.ts';
import type { Database } from './world.ts';

/** What a soak is asked for. */
export interface SoakOptions {
  transactions: number;
  database: Database;
  chain: SoakChain;
  seed: number;
  /** How long the end may take after the last request, in milliseconds. */
  patienceMs: number;
  /**
   * Whether nothing happens but what the soak is about: fees stay, blocks come and stay, nobody else has the keys, and
   * nobody asks anything of what was accepted. Where absent all of that happens.
   */
  calm?: boolean;
  /** Progress, a line at a time. */
  say(text: string): void;
}

/** What came of a soak. */
export interface SoakResult {
  lines: readonly Line[];
  verdict: Verdict;
  /** Why the run proves nothing, or what else is wrong; empty when all is well. */
  faults: readonly string[];
  /** What the server's processes wrote. */
  output: string;
}
