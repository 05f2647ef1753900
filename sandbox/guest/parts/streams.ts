import { createStreamClasses } from '../globals/streams.ts';
import type { PartWorld } from '../part-world.ts';

/** The classes of the Streams Standard, with the functions that other parts use. */
export function part({ decoder }: PartWorld): ReturnType<typeof createStreamClasses> {
  return createStreamClasses(decoder);
}
