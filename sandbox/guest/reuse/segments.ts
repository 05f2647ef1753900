import type { Freezer } from '../intrinsics/freeze.ts';
import { ASSIGNED, type Intrinsic } from '../intrinsics/intrinsics.ts';
import { apply, defineProperty, getPrototypeOf } from '../intrinsics/primordials.ts';

type Segment = (this: unknown, input: unknown) => object;

/**
 * Freezes the prototypes to which only the results of an `Intl.Segmenter` lead, as soon as there is a first result.
 * Making a result here would read the rules of all languages. Every plugin that only formats a number would have to
 * wait for that.
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
