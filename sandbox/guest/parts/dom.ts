import { createAbortClasses } from '../globals/abort.ts';
import { createCrypto } from '../globals/crypto.ts';
import { DOMException } from '../globals/dom-exception.ts';
import { atob, btoa } from '../globals/encoding/base64.ts';
import { createEventClasses } from '../globals/event-target.ts';
import { structuredClone } from '../globals/structured-clone.ts';
import type { PartWorld } from '../part-world.ts';

/** Events and aborting, and what else throws a DOMException. */
export function part({ report, setTimer, random }: PartWorld): Record<string, unknown> {
  const events = createEventClasses(report);
  return {
    DOMException,
    ...events,
    ...createAbortClasses(events, setTimer),
    structuredClone,
    atob,
    btoa,
    crypto: createCrypto(random),
  };
}
