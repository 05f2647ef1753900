import { createEventKinds } from '../globals/events/event-kinds.ts';
import type { EventClasses } from '../globals/events/event-target.ts';
import { createMessageClasses } from '../globals/events/messages.ts';
import { createReporting } from '../globals/events/reporting.ts';
import type { Cloned } from '../globals/structured-clone.ts';
import type { PartWorld } from '../part-world.ts';

/** Events that carry data, message ports, and the event functions of the global object. */
export function part({
  classes,
  dom,
  setTimer,
  global,
  handlers,
  report,
  changed,
}: PartWorld): Record<string, unknown> {
  const events = dom() as unknown as EventClasses & { clone(value: unknown, transfer: Iterable<unknown>): Cloned };
  const kinds = createEventKinds(events);
  const { MessageEvent } = kinds;
  const { DOMException } = classes;
  return {
    ...kinds,
    ...createMessageClasses({ events, MessageEvent, DOMException, clone: events.clone, setTimer }),
    ...createReporting(events, kinds, { global, handlers, uncaught: report, changed }),
  };
}
