import { inspect } from 'node:util';
import type { Test } from 'tap';

/** The outcome of an attempt, as text: its value, or name, code and message of the thrown error. */
async function comesTo(attempt: () => unknown): Promise<string> {
  try {
    return inspect(await attempt(), { depth: 8, breakLength: Number.POSITIVE_INFINITY });
  } catch (error) {
    if (!(error instanceof Error)) return `threw ${String(error)}`;
    const { name, message, code } = error as Error & { code?: unknown };
    return `threw ${name} ${String(code)}: ${message}`;
  }
}

/** Does the same with two implementations and compares. The second is Node's, whose results are the expected ones. */
export async function sameAsNode<M>(
  t: Test,
  ours: M,
  theirs: M,
  attempts: Record<string, (module: M) => unknown>,
): Promise<void> {
  for (const [name, attempt] of Object.entries(attempts)) {
    t.equal(await comesTo(() => attempt(ours)), await comesTo(() => attempt(theirs)), name);
  }
}
