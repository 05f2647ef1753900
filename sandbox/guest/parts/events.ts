import { createEvents } from '../node/events/events.ts';

/** Node's EventEmitter. */
export function part(): Record<string, unknown> {
  return { EventEmitter: createEvents() };
}
