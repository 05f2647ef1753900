import { defineLazily } from '../lazy-property.ts';
import { Freezer } from './freeze.ts';
import { collectIntrinsics, type Intrinsic, type NamedIntrinsics } from './intrinsics.ts';

/**
 * The shared objects of the guest's world, which are frozen once the module has run: those that the language hands out
 * at once, those behind a global name when somebody first reads that name. Nothing else leads to them, the runtime's
 * own code included, so nobody meets one that is not frozen yet; and most plugins never ask for most of them.
 */
export class FrozenIntrinsics {
  readonly #freezer = new Freezer();
  readonly #atHand: readonly Intrinsic[];
  readonly #behindNames: readonly NamedIntrinsics[];
  /** The groups of {@link NamedIntrinsics} that somebody has met. */
  readonly #met: boolean[];
  #sealed = false;

  /** To be made before there is plugin code, and after the runtime has taken what it needs of them. */
  constructor(global: typeof globalThis) {
    const { atHand, behindNames } = collectIntrinsics(global);
    this.#atHand = atHand;
    this.#behindNames = behindNames;
    this.#met = behindNames.map(() => false);
    for (let group = 0; group < behindNames.length; group++) {
      const { names, values } = behindNames[group] as NamedIntrinsics;
      defineLazily(global, names, (_name, index) => {
        this.#meet(group);
        return values[index];
      });
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
    // First: a guest at the end of its stack breaks off here, and must not find the rest as it is when it asks again.
    if (this.#sealed) this.#freezeGroup(group);
    this.#met[group] = true;
  }

  #freezeGroup(group: number): void {
    this.#freezer.freeze((this.#behindNames[group] as NamedIntrinsics).intrinsics);
  }
}
