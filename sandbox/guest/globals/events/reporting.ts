import { tooFew } from '../web-idl.ts';
import type { EventKinds } from './event-kinds.ts';
import type { EventClasses } from './event-target.ts';

type Handler = (...args: unknown[]) => unknown;

/**
 * What the global object does as a target of events: errors that nobody caught pass by its `onerror` and its listeners
 * before they end anything (HTML 8.1.4.6).
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

  /** True where somebody has dealt with an error. */
  function handled(error: unknown): boolean {
    // What a handler of errors throws goes straight on.
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
