import { inTime } from './domain/in-time.ts';

/** How long one step may take unless it says so itself. */
const STEP_MS = 5000;

interface Step {
  name: string;
  limitMs: number;
  run: () => unknown;
}

/**
 * What was opened, closed in the opposite order. A step that fails or does not come to its end keeps none of the others
 * from being taken, so that the whole ends within the sum of the limits whatever hangs.
 */
export class Teardown {
  readonly #steps: Step[] = [];
  #closing: Promise<void> | undefined;

  /** @param limitMs how long the step may take */
  later(name: string, run: () => unknown, limitMs = STEP_MS): void {
    this.#steps.push({ name, run, limitMs });
  }

  /**
   * Safe to call twice.
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
  if ((await inTime(limitMs, closing)) === undefined) throw new Error(`not closed within ${limitMs} ms`);
}
