import type { Line } from '../report.ts';
import type { Verdict } from './verdict.ts';
import type { Blocks, Database } from './world.ts';

/** What a soak is asked for. */
export interface SoakOptions {
  transactions: number;
  database: Database;
  blocks: Blocks;
  seed: number;
  /** How long the end may take after the last request, in milliseconds. */
  patienceMs: number;
  /** Whether fees jump and blocks stay away now and then; where absent they do. */
  weather?: boolean;
  /** Whether the client cancels and replaces some of what was accepted. */
  lifecycle: boolean;
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
