import type { Freezer } from '../intrinsics/freeze.ts';
import type { Intrinsic } from '../intrinsics/intrinsics.ts';
import {
  getOwnPropertyDescriptor,
  getPrototypeOf,
  isExtensible,
  isView,
  mapForEach,
  ownKeys,
  SafeMap,
} from '../intrinsics/primordials.ts';
import { note, takeFurther } from './global-names.ts';

/**
 * The objects of the runtime that plugins reach and that all calls of an isolate share. Sealing freezes them with all
 * that they led to when they were made; objects that come later are frozen before anybody gets them. What the module
 * itself has put on them meanwhile is its author's own.
 */
export class ReachableObjects {
  readonly #freezer: Freezer;
  readonly #changed: () => void;
  readonly #isOfLanguage: (object: object) => boolean;
  readonly #open = new SafeMap<object, true>();
  #waiting = new SafeMap<object, Intrinsic>();
  #noted = new SafeMap<object, true>();
  #state: 'unused' | 'open' | 'sealed' = 'unused';

  /**
   * @param changed told when a call changes one that is noted
   * @param isOfLanguage where it goes no further; once sealed, what belongs to the language is frozen anyway
   */
  constructor(freezer: Freezer, changed: () => void, isOfLanguage: (object: object) => boolean = () => false) {
    this.#freezer = freezer;
    this.#changed = changed;
    this.#isOfLanguage = isOfLanguage;
  }

  /** To be called before the first is made, where they will be sealed; else nothing is done with them. */
  open(): void {
    this.#state = 'open';
  }

  /** Gives the object back, frozen where the world is sealed. */
  add<T extends object>(object: T): T {
    if (this.#state !== 'unused') this.#take(this.#reachable(object));
    return object;
  }

  /** The same for one whose properties libraries replace and add to: they may, and it is told. */
  addNoted<T extends object>(object: T): T {
    if (this.#state === 'unused') return object;
    const found = this.#reachable(object);
    if (this.#state === 'sealed') this.#note(object);
    else this.#noted.set(object, true);
    this.#take(found);
    return object;
  }

  /** Leaves an object as it is, wherever it is found. */
  leave(object: object): void {
    this.#open.set(object, true);
  }

  seal(): void {
    this.#state = 'sealed';
    mapForEach(this.#noted, (_, object) => this.#note(object as object));
    mapForEach(this.#waiting, (intrinsic) => this.#freezer.freezeOne(intrinsic as Intrinsic));
    this.#noted = new SafeMap();
    this.#waiting = new SafeMap();
  }

  /**
   * What was found last first: a guest at the end of its stack breaks off anywhere, and who asks again must come by all
   * that is not frozen yet.
   */
  #take(found: readonly Intrinsic[]): void {
    for (let index = found.length - 1; index >= 0; index--) {
      const intrinsic = found[index] as Intrinsic;
      if (this.#state === 'sealed') this.#freezer.freezeOne(intrinsic);
      else if (!this.#waiting.has(intrinsic.object)) this.#waiting.set(intrinsic.object, intrinsic);
    }
  }

  #reachable(root: object): Intrinsic[] {
    const found: Intrinsic[] = [];
    const seen = new SafeMap<object, true>();
    const meet = (value: unknown, assigned: Intrinsic['assigned'] = null) => {
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return;
      if (seen.has(value) || !isExtensible(value) || this.#open.has(value) || this.#isOfLanguage(value)) return;
      // Bytes cannot be frozen.
      if (isView(value)) return;
      seen.set(value, true);
      found[found.length] = { object: value, assigned, open: null };
    };
    meet(root);
    for (let index = 0; index < found.length; index++) {
      const { object } = found[index] as Intrinsic;
      meet(getPrototypeOf(object));
      const keys = ownKeys(object);
      for (let at = 0; at < keys.length; at++) {
        const key = keys[at] as string | symbol;
        const { value, get, set } = getOwnPropertyDescriptor(object, key) as PropertyDescriptor;
        // Libraries make subclasses of classes, some of them by assignment.
        meet(value, typeof object === 'function' && key === 'prototype' ? 'all' : null);
        meet(get);
        meet(set);
      }
    }
    return found;
  }

  #note(object: object): void {
    const keys = ownKeys(object);
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string | symbol;
      const property = getOwnPropertyDescriptor(object, key) as PropertyDescriptor;
      if (property.configurable !== true || !('value' in property)) continue;
      note(object, key, property.value, this.#changed, property.enumerable);
    }
    takeFurther(object, this.#changed);
    this.leave(getPrototypeOf(object) as object);
  }
}
