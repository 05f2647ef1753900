import { createEvents } from '../node/events/events.ts';
import type { PartWorld } from '../part-world.ts';

/** Node's EventEmitter. */
export function part({ changed }: PartWorld): Record<string, unknown> {
  return { EventEmitter: createEvents(changed) };
}
