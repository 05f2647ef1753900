import type { Outcome } from '../protocol.ts';
import { EnvironmentReads } from './environment-reads.ts';
import { describeFailure } from './failure.ts';
import { outcomeText } from './host-link.ts';
import { quote } from './intrinsics/primordials.ts';
import { findHandler } from './invoke.ts';
import { uncaughtLine } from './text/log-line.ts';

/** Leaves no room for details: these are for the callers of a handler, and no handler runs yet. */
const NO_DETAILS_BYTES = 2;

/** The text of a {@link LoadFailure} for what a module threw while it was evaluated. */
export function loadFailureText(thrown: unknown, environment: EnvironmentReads = new EnvironmentReads()): string {
  const { outcome } = describeFailure(thrown, NO_DETAILS_BYTES);
  const hint = environment.hint(outcome.message);
  return failureText({ ...outcome, message: outcome.message + hint }, uncaughtLine(thrown, hint));
}

/** The text of a {@link LoadFailure} for a module that exports no handler; empty when it exports one. */
export function withoutHandler(moduleExports: unknown): string {
  try {
    findHandler(moduleExports);
    return '';
  } catch (error) {
    return failureText(describeFailure(error, NO_DETAILS_BYTES).outcome, '');
  }
}

function failureText(outcome: Outcome, report: string): string {
  return `{"outcome":${outcomeText(outcome)},"report":${quote(report)}}`;
}
