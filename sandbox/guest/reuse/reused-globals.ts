import type { IntrinsicsFreezer } from '../intrinsics/frozen-intrinsics.ts';
import { type Intrinsic, STACK_SETTINGS } from '../intrinsics/intrinsics.ts';
import {
  apply,
  defineProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  is,
  isExtensible,
  mapForEach,
  NativeError,
  ownKeys,
  RegExpPrototype,
  regExpExec,
  SafeMap,
} from '../intrinsics/primordials.ts';
import type { GlobalNames } from './global-names.ts';
import type { ReachableObjects } from './reachable-objects.ts';

/** Records the properties of an object that cannot be frozen, to detect later changes. */
export class PropertyFingerprint {
  readonly #object: object;
  readonly #prototype: object | null;
  readonly #keys: readonly (string | symbol)[];
  readonly #properties: readonly PropertyDescriptor[];
  readonly #isAccessor: readonly boolean[];
  readonly #isExtensible: boolean;

  constructor(object: object) {
    const keys = ownKeys(object);
    const properties: PropertyDescriptor[] = [];
    const isAccessor: boolean[] = [];
    for (let index = 0; index < keys.length; index++) {
      const property = getOwnPropertyDescriptor(object, keys[index] as string | symbol) as PropertyDescriptor;
      properties[index] = property;
      isAccessor[index] = 'get' in property;
    }
    this.#object = object;
    this.#prototype = getPrototypeOf(object);
    this.#keys = keys;
    this.#properties = properties;
    this.#isAccessor = isAccessor;
    this.#isExtensible = isExtensible(object);
  }

  /**
   * Whether the object still has exactly these properties in this order, the same prototype and extensibility.
   * @param mayHaveBeenRead whether a property that is made on its first read may have been read meanwhile
   */
  matches(mayHaveBeenRead = false): boolean {
    const object = this.#object;
    const keys = this.#keys;
    const properties = this.#properties;
    const isAccessor = this.#isAccessor;
    const keysNow = ownKeys(object);
    if (keysNow.length !== keys.length) return false;
    for (let index = 0; index < keys.length; index++) {
      if (keysNow[index] !== keys[index]) return false;
      const now = getOwnPropertyDescriptor(object, keys[index] as string | symbol);
      const then = properties[index] as PropertyDescriptor;
      if (now === undefined || now.configurable !== then.configurable || now.enumerable !== then.enumerable)
        return false;
      // Reads only the fields that the descriptor has: looking up absent fields is slow, and this runs for every call.
      if (isAccessor[index] === true) {
        if (mayHaveBeenRead && now.writable === true && then.get !== undefined) {
          if (!is(now.value, apply(then.get, object, []))) return false;
        } else if (now.get !== then.get || now.set !== then.set) return false;
      } else if (!is(now.value, then.value) || now.writable !== then.writable) return false;
    }
    return getPrototypeOf(object) === this.#prototype && isExtensible(object) === this.#isExtensible;
  }
}

/**
 * Watches what a module changes while it loads in a world that is not sealed: in a sealed one, code may swallow the
 * refusal of a change, or not try at all. It takes milliseconds, so only a trial does it.
 */
export class OpenWorld {
  readonly #fingerprints = new SafeMap<object, PropertyFingerprint>();

  /** To be made before there is plugin code. @param others further objects that calls share */
  constructor(
    intrinsics: Pick<IntrinsicsFreezer, 'all'>,
    objects: Pick<ReachableObjects, 'watch'>,
    others: readonly object[],
  ) {
    const all = intrinsics.all();
    for (let index = 0; index < all.length; index++) this.#watch((all[index] as Intrinsic).object);
    for (let index = 0; index < others.length; index++) this.#watch(others[index] as object);
    objects.watch((object) => this.#watch(object));
  }

  /** Whether the module has changed nothing that calls share. */
  isAsItWas(): boolean {
    let isSame = true;
    mapForEach(this.#fingerprints, (fingerprint) => {
      isSame &&= (fingerprint as PropertyFingerprint).matches(true);
    });
    return isSame;
  }

  /** Records an object, and the functions on it. */
  #watch(object: object): void {
    if (this.#fingerprints.has(object)) return;
    this.#fingerprints.set(object, new PropertyFingerprint(object));
    const keys = ownKeys(object);
    for (let index = 0; index < keys.length; index++) {
      const { value, get, set } = getOwnPropertyDescriptor(object, keys[index] as string) as PropertyDescriptor;
      this.#watchFunction(value);
      this.#watchFunction(get);
      this.#watchFunction(set);
    }
  }

  #watchFunction(value: unknown): void {
    if (typeof value !== 'function' || this.#fingerprints.has(value)) return;
    this.#fingerprints.set(value, new PropertyFingerprint(value));
  }
}

/** What is sealed, in this order. */
interface SealedParts {
  intrinsics: Pick<IntrinsicsFreezer, 'seal'>;
  objects: Pick<ReachableObjects, 'seal'>;
  names: Pick<GlobalNames, 'seal'>;
  /** `process.env`. */
  env: object;
}

/** The Error constructor. Libraries set the form of stack traces on it, and V8 reads it there. */
const SHAPED = NativeError as unknown as { stackTraceLimit: unknown; prepareStackTrace: unknown };

const NOTHING = /^/;

/**
 * The globals of an isolate that serves one call after the other. No call may see what an earlier call has left behind.
 * After the module has run, everything that can be frozen is frozen. Things that can be watched report their changes.
 * The rest is compared when the next call begins. The variables of the module are its author's own.
 */
export class ReusedGlobals {
  readonly #parts: SealedParts;
  #patterns: PropertyFingerprint | undefined;
  #env: PropertyFingerprint | undefined;
  #stackTraceLimit: unknown;
  #prepareStackTrace: unknown;
  #isSealed = false;
  #hasServed = false;

  constructor(parts: SealedParts) {
    this.#parts = parts;
  }

  /** Whether the module has run. */
  get isSealed(): boolean {
    return this.#isSealed;
  }

  /** To be called once, when the module has run. */
  seal(): void {
    const { intrinsics, objects, names, env } = this.#parts;
    for (let index = 0; index < STACK_SETTINGS.length; index++) keepPlain(SHAPED, STACK_SETTINGS[index] as string);
    intrinsics.seal();
    objects.seal();
    names.seal();
    this.#patterns = new PropertyFingerprint(RegExpPrototype);
    this.#env = new PropertyFingerprint(env);
    this.#stackTraceLimit = SHAPED.stackTraceLimit;
    this.#prepareStackTrace = SHAPED.prepareStackTrace;
    this.#isSealed = true;
  }

  /** @returns false when the call would see what an earlier call has left behind; true for the first call */
  beginCall(): boolean {
    const isFirst = !this.#hasServed;
    this.#hasServed = true;
    return isFirst || this.isAsItWas();
  }

  /** Whether what cannot be frozen is as the module has left it. */
  isAsItWas(): boolean {
    // Replaces the text of the last match, which the language keeps (`RegExp.lastMatch`).
    regExpExec(NOTHING, '');
    return (
      SHAPED.stackTraceLimit === this.#stackTraceLimit &&
      SHAPED.prepareStackTrace === this.#prepareStackTrace &&
      this.#env?.matches() === true &&
      this.#patterns?.matches() === true
    );
  }
}

/** Makes sure that a property exists, that any code may write it, and that no code can make it an accessor. */
function keepPlain(object: object, key: string): void {
  const isThere = getOwnPropertyDescriptor(object, key) !== undefined;
  const fixed = isThere ? { configurable: false } : { value: undefined, writable: true, configurable: false };
  defineProperty(object, key, { __proto__: null, ...fixed } as object);
}
