import type { FrozenIntrinsics } from '../intrinsics/frozen-intrinsics.ts';
import { STACK_SETTINGS } from '../intrinsics/intrinsics.ts';
import {
  defineProperty,
  getOwnPropertyDescriptor,
  NativeError,
  RegExpPrototype,
  regExpExec,
} from '../intrinsics/primordials.ts';
import { Fingerprint } from './fingerprint.ts';
import type { GlobalNames } from './global-names.ts';
import type { ReachableObjects } from './reachable-objects.ts';

/** What has to be sealed, in this order. */
export interface ReusedWorldParts {
  intrinsics: Pick<FrozenIntrinsics, 'seal'>;
  objects: Pick<ReachableObjects, 'seal'>;
  names: Pick<GlobalNames, 'seal'>;
  /** `process.env`. */
  env: object;
}

/** Where libraries shape stack traces, and V8 looks. */
const SHAPED = NativeError as unknown as { stackTraceLimit: unknown; prepareStackTrace: unknown };

const NOTHING = /^/;

/**
 * The world of an isolate that serves one call after the other: no call may meet what an earlier one left behind. When
 * the module has run, what can be frozen is frozen. What can be watched tells when it changes. The rest is compared
 * when the next call begins. The variables of the module are its author's own.
 */
export class ReusedWorld {
  readonly #parts: ReusedWorldParts;
  #patterns: Fingerprint | undefined;
  #env: Fingerprint | undefined;
  #stackTraceLimit: unknown;
  #prepareStackTrace: unknown;
  #isSealed = false;
  #hasServed = false;

  constructor(parts: ReusedWorldParts) {
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
    this.#patterns = new Fingerprint(RegExpPrototype);
    this.#env = new Fingerprint(env);
    this.#stackTraceLimit = SHAPED.stackTraceLimit;
    this.#prepareStackTrace = SHAPED.prepareStackTrace;
    this.#isSealed = true;
  }

  /** @returns false when the call would meet what an earlier one has left behind; the first one of all meets nothing */
  beginCall(): boolean {
    const isFirst = !this.#hasServed;
    this.#hasServed = true;
    return isFirst || this.#isAsItWas();
  }

  #isAsItWas(): boolean {
    // The language keeps the text that was matched last (`RegExp.lastMatch`).
    regExpExec(NOTHING, '');
    return (
      SHAPED.stackTraceLimit === this.#stackTraceLimit &&
      SHAPED.prepareStackTrace === this.#prepareStackTrace &&
      this.#env?.matches() === true &&
      this.#patterns?.matches() === true
    );
  }
}

/** Has a property be there that everybody may write and nobody can make an accessor of any more. */
function keepPlain(object: object, key: string): void {
  const isThere = getOwnPropertyDescriptor(object, key) !== undefined;
  const fixed = isThere ? { configurable: false } : { value: undefined, writable: true, configurable: false };
  defineProperty(object, key, { __proto__: null, ...fixed } as object);
}
