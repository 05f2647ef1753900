import { DOMException } from './dom-exception.ts';
import type { EventClasses } from './event-target.ts';

type SetTimer = (callback: () => void, delayMs: number) => unknown;

/** AbortController and AbortSignal (DOM Standard 3.1 and 3.2); `setTimer` wakes `AbortSignal.timeout`. */
export function createAbortClasses({ Event, EventTarget }: EventClasses, setTimer: SetTimer) {
  // Only this function's own code may make a signal.
  const permit = Symbol('permit');
  let abortSignal: (signal: AbortSignal, reason: unknown) => void;

  class AbortSignal extends EventTarget {
    onabort: ((event: unknown) => unknown) | null = null;
    #aborted = false;
    #reason: unknown;

    constructor(given?: symbol) {
      if (given !== permit) throw new TypeError('Illegal constructor');
      super();
    }

    static abort(reason?: unknown): AbortSignal {
      const signal = new AbortSignal(permit);
      AbortSignal.#abort(signal, reason);
      return signal;
    }

    static timeout(delayMs: number): AbortSignal {
      const signal = new AbortSignal(permit);
      const expire = () =>
        AbortSignal.#abort(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
      setTimer(expire, delayMs);
      return signal;
    }

    static any(signals: Iterable<AbortSignal>): AbortSignal {
      const all = [...signals];
      const joint = new AbortSignal(permit);
      const first = all.find((signal) => signal.aborted);
      if (first !== undefined) AbortSignal.#abort(joint, first.reason);
      else {
        for (const signal of all) {
          signal.addEventListener('abort', () => AbortSignal.#abort(joint, signal.reason), { once: true });
        }
      }
      return joint;
    }

    static #abort(signal: AbortSignal, reason: unknown = new DOMException('This operation was aborted', 'AbortError')) {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason;
      const event = new Event('abort');
      if (typeof signal.onabort === 'function') signal.addEventListener('abort', signal.onabort, { once: true });
      signal.dispatchEvent(event);
    }

    static {
      abortSignal = (signal, reason) => AbortSignal.#abort(signal, reason);
    }

    get aborted(): boolean {
      return this.#aborted;
    }

    get reason(): unknown {
      return this.#reason;
    }

    throwIfAborted(): void {
      if (this.#aborted) throw this.#reason;
    }

    override get [Symbol.toStringTag](): string {
      return 'AbortSignal';
    }
  }

  class AbortController {
    readonly #signal = new AbortSignal(permit);

    get signal(): AbortSignal {
      return this.#signal;
    }

    abort(reason?: unknown): void {
      abortSignal(this.#signal, reason);
    }

    get [Symbol.toStringTag](): string {
      return 'AbortController';
    }
  }

  return { AbortController, AbortSignal };
}
