import { tooFew } from '../web-idl.ts';
import type { EventKinds } from './event-kinds.ts';
import type { EventClasses } from './event-target.ts';

type Handler = (...args: unknown[]) => unknown;

/**
 * Makes the global object a target of events. Its `onerror` and its listeners get uncaught errors before these end
 * anything (HTML 8.1.4.6).
 */
export function createReporting(
  { EventTarget, fire, showAs, watch }: Pick<EventClasses, 'EventTarget' | 'fire' | 'showAs' | 'watch'>,
  { ErrorEvent }: Pick<EventKinds, 'ErrorEvent'>,
  world: {
    readonly global: object;
    readonly handlers: Readonly<Record<string, unknown>>;
    uncaught(error: unknown): void;
    changed(): void;
  },
) {
  const target = new EventTarget();
  showAs(target, world.global);
  watch(target, world.changed);
  let isReporting = false;

  /** Whether `onerror` or a listener has handled an error. */
  function handled(error: unknown): boolean {
    // An error from a handler of errors is not handled again.
    if (isReporting) return false;
    isReporting = true;
    try {
      const message = error instanceof Error ? `Uncaught ${String(error)}` : 'Uncaught exception';
      const event = new ErrorEvent('error', { error, message, cancelable: true });
      const { onerror } = world.handlers;
      if (typeof onerror === 'function') {
        const answer = Reflect.apply(onerror as Handler, world.global, [message, '', 0, 0, error]);
        if (answer === true) event.preventDefault();
      }
      return !fire(target, event);
    } finally {
      isReporting = false;
    }
  }

  return {
    handled,
    reportError(error: unknown): void {
      if (arguments.length === 0) throw tooFew('reportError', 1);
      world.uncaught(error);
    },
    addEventListener: target.addEventListener.bind(target),
    removeEventListener: target.removeEventListener.bind(target),
    dispatchEvent: target.dispatchEvent.bind(target),
  };
}
