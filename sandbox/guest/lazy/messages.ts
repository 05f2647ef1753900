import { createEventKinds, type EventKinds } from '../globals/events/event-kinds.ts';
import type { EventClasses } from '../globals/events/event-target.ts';
import { createMessageClasses } from '../globals/events/message-channel.ts';
import type { CloneResult } from '../globals/structured-clone.ts';
import { tooFewArguments } from '../globals/web-idl.ts';
import type { RuntimeServices } from '../lazy-module-loader.ts';

type Handler = (...args: unknown[]) => unknown;

/**
 * Makes the global object a target of events. Its `onerror` and its listeners get uncaught errors before these end
 * anything (HTML 8.1.4.6).
 */
export function createReporting(
  { EventTarget, fire, showAs, watch }: Pick<EventClasses, 'EventTarget' | 'fire' | 'showAs' | 'watch'>,
  { ErrorEvent }: Pick<EventKinds, 'ErrorEvent'>,
  services: {
    readonly global: object;
    readonly handlers: Readonly<Record<string, unknown>>;
    uncaught(error: unknown): void;
    changed(): void;
  },
) {
  const target = new EventTarget();
  showAs(target, services.global);
  watch(target, services.changed);
  let isReporting = false;

  /** Whether `onerror` or a listener has handled an error. */
  function handled(error: unknown): boolean {
    // An error from a handler of errors is not handled again.
    if (isReporting) return false;
    isReporting = true;
    try {
      const message = error instanceof Error ? `Uncaught ${String(error)}` : 'Uncaught exception';
      const event = new ErrorEvent('error', { error, message, cancelable: true });
      const { onerror } = services.handlers;
      if (typeof onerror === 'function') {
        const answer = Reflect.apply(onerror as Handler, services.global, [message, '', 0, 0, error]);
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
      if (arguments.length === 0) throw tooFewArguments('reportError', 1);
      services.uncaught(error);
    },
    addEventListener: target.addEventListener.bind(target),
    removeEventListener: target.removeEventListener.bind(target),
    dispatchEvent: target.dispatchEvent.bind(target),
  };
}

/** Events that carry data, message ports, and the event functions of the global object. */
export function create({
  classes,
  dom,
  setTimer,
  global,
  handlers,
  report,
  changed,
}: RuntimeServices): Record<string, unknown> {
  const events = dom() as unknown as EventClasses & { clone(value: unknown, transfer: Iterable<unknown>): CloneResult };
  const kinds = createEventKinds(events);
  const { MessageEvent } = kinds;
  const { DOMException } = classes;
  return {
    ...kinds,
    ...createMessageClasses({ events, MessageEvent, DOMException, clone: events.clone, setTimer }),
    ...createReporting(events, kinds, { global, handlers, uncaught: report, changed }),
  };
}
