import type { Line } from '../report.ts';
import type { SoakChain } from './chain.ts';
import type { Verdict } from './verdict.ts';
import type { Database } from './world.ts';

/** Options of every soak that sends transactions. */
export interface SoakOptions {
  transactions: number;
  database: Database;
  chain: SoakChain;
  seed: number;
  /** How long to wait for ends after the last request, in milliseconds. */
  patienceMs: number;
  /**
   * Whether to run without scheduled faults, strangers, the client's intents and, in `kill`, further troubles. Default: false.
   */
  calm?: boolean;
  /** Reports progress, one line at a time. */
  say(text: string): void;
}

/** The result of a soak. */
export interface SoakResult {
  lines: readonly Line[];
  verdict: Verdict;
  /** Reasons why the run proves nothing, and other errors; empty if there are none. */
  faults: readonly string[];
  /** Everything that the server's processes wrote. */
  output: string;
}
