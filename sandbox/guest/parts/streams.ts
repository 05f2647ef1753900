import { createStreamClasses } from '../globals/streams.ts';
import type { PartWorld } from '../part-world.ts';

/** The classes of the Streams Standard, with what the other parts do with them. */
export function part({ decoder }: PartWorld): ReturnType<typeof createStreamClasses> {
  return createStreamClasses(decoder);
}
