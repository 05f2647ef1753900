import { DOMException } from '../dom-exception.ts';
import { conformToWebIdl } from '../web-idl.ts';
import type { EventClasses } from './event-target.ts';

type SetTimer = (callback: () => void, delayMs: number) => { unref(): unknown };

/** AbortController and AbortSignal (DOM Standard 3.1 and 3.2). `setTimer` is the timer of `AbortSignal.timeout`. */
export function createAbortClasses({ Event, EventTarget, defineHandler, fire }: EventClasses, setTimer: SetTimer) {
  // Only this function's own code may make a signal.
  const permit = Symbol('permit');
  let abortSignal: (signal: AbortSignal, reason: unknown) => void;

  const isOne = (value: unknown) => value instanceof AbortSignal;

  class AbortSignal extends EventTarget {
    declare onabort: ((event: unknown) => unknown) | null;
    #aborted = false;
    #reason: unknown;
    /** The sources of a signal that `any` made. No source was made by `any` itself. */
    #sources: ReadonlySet<AbortSignal> = new Set();
    readonly #dependents = new Set<AbortSignal>();

    constructor(given?: symbol) {
      if (given !== permit) throw new TypeError('Illegal constructor');
      super();
    }

    static abort(reason?: unknown): AbortSignal {
      const signal = new AbortSignal(permit);
      AbortSignal.#abort(signal, reason);
      return signal;
    }

    static timeout(delayMs: unknown): AbortSignal {
      const delay = Math.trunc(Number(delayMs));
      if (!(delay >= 0 && delay <= Number.MAX_SAFE_INTEGER)) throw new TypeError('The delay is no time');
      const signal = new AbortSignal(permit);
      const expire = () =>
        AbortSignal.#abort(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
      // As in Node: nobody can clear this timer, so it must not count as work that the handler left behind.
      setTimer(expire, delay).unref();
      return signal;
    }

    /** A signal that is aborted with the first of several signals (DOM Standard 3.2.2). */
    static any(signals: Iterable<AbortSignal>): AbortSignal {
      const all = typeof signals === 'object' && signals !== null ? [...signals] : [];
      if (arguments.length === 0 || typeof signals !== 'object' || !all.every((one) => isOne(one))) {
        throw new TypeError('Signals come as a list of AbortSignals');
      }
      const joint = new AbortSignal(permit);
      const first = all.find((signal) => signal.#aborted);
      if (first !== undefined) {
        AbortSignal.#mark(joint, first.#reason);
        return joint;
      }
      joint.#sources = new Set(all.flatMap((signal) => (signal.#sources.size === 0 ? [signal] : [...signal.#sources])));
      for (const source of joint.#sources) source.#dependents.add(joint);
      return joint;
    }

    static #mark(signal: AbortSignal, reason: unknown): void {
      signal.#aborted = true;
      signal.#reason = reason;
    }

    /**
     * Marks the signal and all its dependent signals as aborted, before any listener runs. The signal's own event comes
     * first.
     */
    static #abort(signal: AbortSignal, reason: unknown = new DOMException('This operation was aborted', 'AbortError')) {
      if (signal.#aborted) return;
      AbortSignal.#mark(signal, reason);
      const dependents = [...signal.#dependents].filter((one) => !one.#aborted);
      for (const one of dependents) AbortSignal.#mark(one, reason);
      for (const one of [signal, ...dependents]) {
        for (const source of one.#sources) source.#dependents.delete(one);
        fire(one, new Event('abort'));
      }
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
  }

  class AbortController {
    readonly #signal = new AbortSignal(permit);

    get signal(): AbortSignal {
      return this.#signal;
    }

    abort(reason?: unknown): void {
      abortSignal(this.#signal, reason);
    }
  }

  conformToWebIdl(AbortSignal);
  conformToWebIdl(AbortController);
  defineHandler(AbortSignal, 'abort');
  return { AbortController, AbortSignal };
}
