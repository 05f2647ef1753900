import { createSubtle } from '../globals/subtle/subtle.ts';
import type { PartWorld } from '../part-world.ts';

/** The part of Web Cryptography that works with keys. */
export function part({ classes, compute, computeLater, random }: PartWorld): Record<string, unknown> {
  return createSubtle({ DOMException: classes.DOMException, compute, computeLater, random });
}
