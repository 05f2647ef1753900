import type { Freezer } from '../intrinsics/freeze.ts';
import { ASSIGNED, type Intrinsic } from '../intrinsics/intrinsics.ts';
import { apply, defineProperty, getPrototypeOf } from '../intrinsics/primordials.ts';

type Segment = (this: unknown, input: unknown) => object;

/**
 * Has what only the results of an `Intl.Segmenter` lead to frozen with the first of them: to make one here, for that,
 * would have every plugin that only formats a number wait until the rules of all languages are read.
 */
export function freezeSegments(intl: { Segmenter?: { prototype: { segment: Segment } } }, freezer: Freezer): void {
  const prototype = intl.Segmenter?.prototype;
  if (prototype === undefined) return;
  const native = prototype.segment;
  let isFrozen = false;
  const { segment } = {
    segment(this: unknown, input: unknown): object {
      const segments = apply(native, this, [input]) as { [Symbol.iterator](): object };
      if (!isFrozen) {
        const iterator = segments[Symbol.iterator]();
        freezer.freeze([intrinsicOf(getPrototypeOf(segments)), intrinsicOf(getPrototypeOf(iterator))]);
        isFrozen = true;
      }
      return segments;
    },
  };
  defineProperty(prototype, 'segment', { __proto__: null, value: segment } as object);
}

function intrinsicOf(object: object | null): Intrinsic {
  return { object: object as object, assigned: ASSIGNED, open: null };
}
