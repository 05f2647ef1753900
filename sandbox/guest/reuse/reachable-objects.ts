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
 * Registers the runtime's objects that plugins reach and that all calls of an isolate share. Sealing freezes them with
 * everything that they led to when they were made. Later objects are frozen before a plugin gets them. Objects that the
 * module itself has put on them in between are its author's own.
 */
export class ReachableObjects {
  readonly #freezer: Freezer;
  readonly #changed: () => void;
  readonly #isOfLanguage: (object: object) => boolean;
  readonly #open = new SafeMap<object, true>();
  #waiting = new SafeMap<object, Intrinsic>();
  #noted = new SafeMap<object, true>();
  #state: 'unused' | 'open' | 'sealed' = 'unused';
  #watch: ((object: object) => void) | undefined;

  /**
   * @param changed called when a call changes an object that was added with `addNoted`
   * @param isOfLanguage whether the search stops at an object; once sealed, the objects of the language are frozen
   * anyway
   */
  constructor(freezer: Freezer, changed: () => void, isOfLanguage: (object: object) => boolean = () => false) {
    this.#freezer = freezer;
    this.#changed = changed;
    this.#isOfLanguage = isOfLanguage;
  }

  /**
   * To be called before the first object is made, if the objects will be sealed. Without it, nothing is done with them.
   */
  open(): void {
    this.#state = 'open';
  }

  /** Tells of each object that sealing will freeze, before a plugin meets it. */
  watch(watch: (object: object) => void): void {
    this.#watch = watch;
  }

  /** Returns the object, frozen if the module has run. */
  add<T extends object>(object: T): T {
    if (this.#state !== 'unused') this.#take(this.#reachable(object));
    return object;
  }

  /**
   * Like `add`, for an object whose properties libraries replace and extend. They may do so, and each change calls
   * `changed`.
   */
  addNoted<T extends object>(object: T): T {
    if (this.#state === 'unused') return object;
    const found = this.#reachable(object);
    if (this.#state === 'sealed') this.#note(object);
    else this.#noted.set(object, true);
    this.#take(found);
    return object;
  }

  /** Excludes an object from freezing, wherever it is found. */
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
   * Starts with the object that was found last. A stack overflow can interrupt the guest anywhere, and the next attempt
   * must still reach every object that is not frozen yet.
   */
  #take(found: readonly Intrinsic[]): void {
    for (let index = found.length - 1; index >= 0; index--) {
      const intrinsic = found[index] as Intrinsic;
      if (this.#state === 'sealed') this.#freezer.freezeOne(intrinsic);
      else if (!this.#waiting.has(intrinsic.object)) {
        this.#waiting.set(intrinsic.object, intrinsic);
        this.#watch?.(intrinsic.object);
      }
    }
  }

  #reachable(root: object): Intrinsic[] {
    const found: Intrinsic[] = [];
    const seen = new SafeMap<object, true>();
    const meet = (value: unknown, assigned: Intrinsic['assigned'] = null) => {
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return;
      if (seen.has(value) || !isExtensible(value) || this.#open.has(value) || this.#isOfLanguage(value)) return;
      // Views of bytes cannot be frozen.
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
        // Libraries make subclasses. Some assign the members to an object that inherits from this prototype.
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
