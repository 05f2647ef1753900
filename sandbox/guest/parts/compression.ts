import { createCompressionClasses } from '../globals/compression.ts';
import type { PartWorld } from '../part-world.ts';

/** The classes of the Compression Standard. */
export function part({ streams }: PartWorld): Record<string, unknown> {
  return createCompressionClasses(streams());
}
