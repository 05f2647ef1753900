import type { GlobalNames } from '../reuse/global-names.ts';
import { freezeSegments } from '../reuse/segments.ts';
import { Freezer } from './freeze.ts';
import { collectIntrinsics, type Intrinsic, intrinsicsBehind, type NamedIntrinsics } from './intrinsics.ts';

/**
 * Freezes the shared objects of the language after the module has run. Objects behind a global name are frozen when
 * that name is first read, the others at once. Nothing but the name leads to such objects, not even the runtime's own
 * code, so no code meets one before it is frozen. Most plugins never read most of these names.
 */
export class FrozenIntrinsics {
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
