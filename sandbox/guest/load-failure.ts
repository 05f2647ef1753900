import type { Outcome } from '../protocol.ts';
import { describeFailure } from './failure.ts';
import { outcomeText } from './host-link.ts';
import { quote } from './intrinsics/primordials.ts';
import { findHandler } from './invoke.ts';
import { uncaughtLine } from './text/log-line.ts';

/** Details are for the callers of a handler, and there is none yet. */
const NO_DETAILS_BYTES = 2;

/** The text of a {@link LoadFailure} for what a module threw while it was evaluated. */
export function loadFailureText(thrown: unknown): string {
  return failureText(describeFailure(thrown, NO_DETAILS_BYTES).outcome, uncaughtLine(thrown));
}

/** The same for a module without a handler; empty when there is one. */
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
