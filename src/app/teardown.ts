import { withTimeout } from '../domain/with-timeout.ts';

/** The default time limit of a step. */
const STEP_MS = 5000;

interface Step {
  name: string;
  limitMs: number;
  run: () => unknown;
}

/**
 * Closes opened parts in reverse order. A step that fails or hangs does not stop the others. So closing ends within the
 * sum of the limits.
 */
export class Teardown {
  readonly #steps: Step[] = [];
  #closing: Promise<void> | undefined;

  /** @param limitMs the time limit of the step */
  defer(name: string, run: () => unknown, limitMs = STEP_MS): void {
    this.#steps.push({ name, run, limitMs });
  }

  /**
   * Closes all parts. Safe to call twice.
   * @throws AggregateError naming each step that failed or was given up, after all were tried
   */
  close(): Promise<void> {
    this.#closing ??= this.#run();
    return this.#closing;
  }

  async #run(): Promise<void> {
    const failures: Error[] = [];
    for (const step of this.#steps.toReversed()) {
      try {
        await within(step);
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        failures.push(new Error(`${step.name}: ${reason}`, { cause }));
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Not everything could be closed');
  }
}

async function within({ run, limitMs }: Step): Promise<void> {
  const closing = (async () => {
    await run();
    return true;
  })();
  if ((await withTimeout(limitMs, closing)) === undefined) throw new Error(`not closed within ${limitMs} ms`);
}

/** A deadline after which unanswered operations are aborted. There is none until {@link within} sets it. */
export class ShutdownDeadline {
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #at = Number.POSITIVE_INFINITY;

  /** Aborts at the deadline. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Sets the deadline to `ms` milliseconds from now, unless it is earlier already. */
  within(ms: number): void {
    const at = performance.now() + ms;
    if (at >= this.#at) return;
    this.#at = at;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), ms).unref();
  }
}
