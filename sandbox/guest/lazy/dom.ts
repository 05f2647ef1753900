import { createCrypto } from '../globals/crypto.ts';
import { DOMException } from '../globals/dom-exception.ts';
import { atob, btoa } from '../globals/encoding/bytes.ts';
import { createAbortClasses } from '../globals/events/abort.ts';
import { createEventClasses } from '../globals/events/event-target.ts';
import { createCloning, createStructuredClone } from '../globals/structured-clone.ts';
import type { RuntimeServices } from '../lazy-module-loader.ts';

/** Events, aborting, and the other APIs that throw a DOMException. */
export function create({ report, now, setTimer, random, subtle, platform }: RuntimeServices): Record<string, unknown> {
  const events = createEventClasses(report, now);
  const copy = (value: object) =>
    value instanceof DOMException ? new DOMException(value.message, value.name) : platform.copy(value);
  const objects = { copy, move: platform.move };
  return {
    DOMException,
    ...events,
    ...createAbortClasses(events, setTimer),
    structuredClone: createStructuredClone(objects),
    clone: createCloning(objects),
    atob,
    btoa,
    ...createCrypto(random, subtle),
  };
}
