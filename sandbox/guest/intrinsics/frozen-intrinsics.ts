import type { GlobalNames } from '../reuse/global-names.ts';
import { freezeSegments } from '../reuse/segments.ts';
import { Freezer } from './freeze.ts';
import { collectIntrinsics, type Intrinsic, intrinsicsBehind, type NamedIntrinsics } from './intrinsics.ts';

/**
 * The shared objects of the language, frozen once the module has run: those behind a global name when somebody first
 * reads that name, the others at once. Nothing else leads to them, not even the runtime's own code, so nobody meets one
 * before it is frozen; and most plugins never read most of these names.
 */
export class FrozenIntrinsics {
  readonly #freezer: Freezer;
  readonly #atHand: readonly Intrinsic[];
  readonly #behindNames: readonly NamedIntrinsics[];
  /** The groups of {@link NamedIntrinsics} that somebody has met. */
  readonly #met: boolean[] = [];
  #sealed = false;

  /**
   * To be made before there is plugin code, and after the runtime has taken what it needs of them.
   * @param mentioned names that the plugin's code mentions: of these plain properties are worth more than what they save
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

  /** Freezes what the module may have met, and from now on the rest before anybody meets it. */
  seal(): void {
    this.#sealed = true;
    this.#freezer.freeze(this.#atHand);
    for (let group = 0; group < this.#met.length; group++) if (this.#met[group] === true) this.#freezeGroup(group);
  }

  #meet(group: number): void {
    if (this.#met[group] === true) return;
    const { names, values } = this.#behindNames[group] as NamedIntrinsics;
    if (names[0] === 'Intl') freezeSegments(values[0] as object, this.#freezer);
    // First: a guest at the end of its stack breaks off here, and must not find the rest as it is when it asks again.
    if (this.#sealed) this.#freezeGroup(group);
    this.#met[group] = true;
  }

  #freezeGroup(group: number): void {
    this.#freezer.freeze(intrinsicsBehind(this.#behindNames[group] as NamedIntrinsics));
  }
}
