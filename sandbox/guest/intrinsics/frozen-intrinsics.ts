import type { GlobalNames } from '../reuse/global-names.ts';
import { Freezer } from './freeze.ts';
import {
  ASSIGNABLE_PROPERTIES,
  collectIntrinsics,
  type Intrinsic,
  intrinsicsBehind,
  type NamedIntrinsics,
} from './intrinsics.ts';
import { apply, defineProperty, getPrototypeOf } from './primordials.ts';

/**
 * Freezes the shared objects of the language after the module has run. Objects behind a global name are frozen when
 * that name is first read, the others at once. Nothing but the name leads to such objects, not even the runtime's own
 * code, so no code meets one before it is frozen. Most plugins never read most of these names.
 */
export class IntrinsicsFreezer {
  readonly #freezer: Freezer;
  readonly #atHand: readonly Intrinsic[];
  readonly #behindNames: readonly NamedIntrinsics[];
  /** Whether code may have met the objects of each group of {@link NamedIntrinsics}. */
  readonly #met: boolean[] = [];
  #sealed = false;

  /**
   * To be made before there is plugin code, and after the runtime has taken the built-ins that it needs.
   * @param mentioned names that the plugin's code mentions: for these, plain properties gain more than late freezing
   * saves
   */
  constructor(
    global: typeof globalThis,
    names: Pick<GlobalNames, 'define'>,
    mentioned: readonly string[] = [],
    freezer = new Freezer(),
  ) {
    const { atHand, behindNames } = collectIntrinsics(global);
    this.#freezer = freezer;
    this.#atHand = atHand;
    this.#behindNames = behindNames;
    for (let group = 0; group < behindNames.length; group++) {
      const { names: ofGroup, values } = behindNames[group] as NamedIntrinsics;
      const isMentioned = ofGroup.some((name) => mentioned.includes(name));
      this.#met[group] = false;
      if (isMentioned) this.#meet(group);
      else {
        names.define(ofGroup, (_name, index) => {
          this.#meet(group);
          return values[index];
        });
      }
    }
  }

  /** Freezes the objects that the module may have met. From now on, freezes the others before any code meets them. */
  seal(): void {
    this.#sealed = true;
    this.#freezer.freeze(this.#atHand);
    for (let group = 0; group < this.#met.length; group++) if (this.#met[group] === true) this.#freezeGroup(group);
  }

  /** All shared objects. To be called at most once. */
  all(): readonly Intrinsic[] {
    const all = [...this.#atHand];
    for (let group = 0; group < this.#behindNames.length; group++) {
      all.push(...intrinsicsBehind(this.#behindNames[group] as NamedIntrinsics));
    }
    return all;
  }

  #meet(group: number): void {
    if (this.#met[group] === true) return;
    const { names, values } = this.#behindNames[group] as NamedIntrinsics;
    if (names[0] === 'Intl') freezeSegments(values[0] as object, this.#freezer);
    // Freezes before it sets the flag. A stack overflow can interrupt the freezing, and the next read must then freeze
    // the rest.
    if (this.#sealed) this.#freezeGroup(group);
    this.#met[group] = true;
  }

  #freezeGroup(group: number): void {
    this.#freezer.freeze(intrinsicsBehind(this.#behindNames[group] as NamedIntrinsics));
  }
}

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
  return { object: object as object, assigned: ASSIGNABLE_PROPERTIES, open: null };
}
