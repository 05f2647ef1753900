import { createAssert } from '../node/assert/assert.ts';
import type { PartWorld } from '../part-world.ts';

/** Node's module `assert`. */
export function part({ large }: PartWorld): Record<string, unknown> {
  return { assert: createAssert(large('inspect')['inspect'] as Parameters<typeof createAssert>[0]) };
}
