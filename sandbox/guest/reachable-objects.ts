import type { Freezer } from './freeze.ts';
import { note, takeFurther } from './global-names.ts';
import type { Intrinsic } from './intrinsics.ts';
import { getOwnPropertyDescriptor, getPrototypeOf, isExtensible, ownKeys, SafeMap } from './primordials.ts';

/**
 * The objects of the runtime that plugins reach and all calls of an isolate share. Once sealed they are frozen with all
 * that they lead to, those that come later before anybody gets them.
 */
export class ReachableObjects {
  readonly #freezer: Freezer;
  readonly #changed: () => void;
  readonly #isOfLanguage: (object: object) => boolean;
  readonly #open = new SafeMap<object, true>();
  #waiting: object[] = [];
  #noted: object[] = [];
  #sealed = false;

  /**
   * @param changed told when a call changes one that is noted
   * @param isOfLanguage where it goes no further; once sealed, what belongs to the language is frozen anyway
   */
  constructor(freezer: Freezer, changed: () => void, isOfLanguage: (object: object) => boolean = () => false) {
    this.#freezer = freezer;
    this.#changed = changed;
    this.#isOfLanguage = isOfLanguage;
  }

  /** Gives the object back, frozen where the world is sealed. */
  add<T extends object>(object: T): T {
    if (this.#sealed) this.#freeze(object);
    else this.#waiting[this.#waiting.length] = object;
    return object;
  }

  /** The same for one whose properties libraries replace and add to: they may, and it is told. */
  addNoted<T extends object>(object: T): T {
    if (this.#sealed) this.#note(object);
    else this.#noted[this.#noted.length] = object;
    return this.add(object);
  }

  /** Leaves an object as it is, wherever it is found. */
  leave(object: object): void {
    this.#open.set(object, true);
  }

  seal(): void {
    this.#sealed = true;
    for (let index = 0; index < this.#noted.length; index++) this.#note(this.#noted[index] as object);
    for (let index = 0; index < this.#waiting.length; index++) this.#freeze(this.#waiting[index] as object);
    this.#noted = [];
    this.#waiting = [];
  }

  /**
   * In two steps, what was found last first: a guest at the end of its stack breaks off anywhere, and who asks again
   * must come by all that is not frozen yet.
   */
  #freeze(root: object): void {
    const found = this.#reachable(root);
    for (let index = found.length - 1; index >= 0; index--) this.#freezer.freezeOne(found[index] as Intrinsic);
  }

  #reachable(root: object): Intrinsic[] {
    const found: Intrinsic[] = [];
    const seen = new SafeMap<object, true>();
    const meet = (value: unknown, assigned: Intrinsic['assigned'] = null) => {
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return;
      if (seen.has(value) || !isExtensible(value) || this.#open.has(value) || this.#isOfLanguage(value)) return;
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
      const value: unknown = property.value;
      if (typeof value === 'function' || (typeof value === 'object' && value !== null)) this.#freeze(value);
      note(object, key, value, this.#changed, property.enumerable);
    }
    takeFurther(object, this.#changed);
    this.leave(getPrototypeOf(object) as object);
  }
}
