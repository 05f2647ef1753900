/** The Web IDL of a class that its code does not show. */
export interface WebIdlInterface {
  /** The number of arguments that a method needs (Web IDL 3.7.7). */
  readonly required?: Readonly<Record<string, number>>;
  /** The interface's name, if the class has another name. */
  readonly name?: string;
}

type Class = abstract new (...given: never[]) => object;
type Method = (...given: unknown[]) => unknown;
type Pairs = readonly (readonly [unknown, unknown])[];

/**
 * Gives a class the shape of an interface (Web IDL 3.7): its members are enumerable, its objects have a string tag, and
 * its methods refuse calls with too few arguments.
 */
export function conformToWebIdl(made: Class, { required = {}, name = made.name }: WebIdlInterface = {}): void {
  const prototype = made.prototype as object;
  for (const [method, count] of Object.entries(required)) needArguments(prototype, method, count, name);
  for (const owner of [prototype, made]) {
    for (const key of Object.getOwnPropertyNames(owner)) {
      const property = Object.getOwnPropertyDescriptor(owner, key);
      const isMember = key !== 'constructor' && (property?.get !== undefined || typeof property?.value === 'function');
      if (isMember && property?.configurable === true) Object.defineProperty(owner, key, { enumerable: true });
    }
  }
  Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true });
}

function needArguments(owner: object, name: string, count: number, className: string): void {
  const method = (owner as Record<string, Method>)[name] as Method;
  const checked = {
    [name](this: unknown, ...given: unknown[]): unknown {
      if (given.length < count) throw tooFewArguments(`${className}.${name}`, count);
      return Reflect.apply(method, this, given);
    },
  }[name];
  Object.defineProperty(checked, 'length', { value: count, configurable: true });
  Object.defineProperty(owner, name, { value: checked, writable: true, enumerable: true, configurable: true });
}

/** The error for too few arguments. Also for functions without a class, and for constructors. */
export function tooFewArguments(what: string, count: number): TypeError {
  return new TypeError(`${what} needs ${count} argument${count === 1 ? '' : 's'}`);
}

/**
 * Makes a class iterable over pairs (Web IDL 3.7.9 and 3.7.10): adds `entries`, `keys`, `values` and `forEach`. Their
 * iterators see changes made during the iteration. `pairsOf` returns the current pairs.
 */
export function makeIterable<T extends object>(made: Class & { prototype: T }, pairsOf: (self: T) => Pairs): void {
  const { name } = made;
  const all = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) as object;

  class PairIterator {
    readonly #self: T;
    readonly #pick: (pair: readonly [unknown, unknown]) => unknown;
    #index = 0;

    constructor(self: T, pick: (pair: readonly [unknown, unknown]) => unknown) {
      this.#self = self;
      this.#pick = pick;
    }

    next(): IteratorResult<unknown> {
      const pair = pairsOf(this.#self)[this.#index];
      if (pair === undefined) return { value: undefined, done: true };
      this.#index++;
      return { value: this.#pick(pair), done: false };
    }
  }
  conformToWebIdl(PairIterator, { name: `${name} Iterator` });
  Reflect.deleteProperty(PairIterator.prototype, 'constructor');
  Object.setPrototypeOf(PairIterator.prototype, all);
  // Frozen here: all calls of an isolate share the class, and only its objects lead to it, not a name.
  Object.freeze(PairIterator.prototype.next);
  Object.freeze(PairIterator.prototype);

  const iterate = (self: T, pick: (pair: readonly [unknown, unknown]) => unknown) => {
    // Throws at once if `self` is no object of the class.
    pairsOf(self);
    return new PairIterator(self, pick);
  };
  const methods = {
    entries(this: T) {
      return iterate(this, ([key, value]) => [key, value]);
    },
    keys(this: T) {
      return iterate(this, ([key]) => key);
    },
    values(this: T) {
      return iterate(this, ([, value]) => value);
    },
    forEach(this: T, callback: unknown, self?: unknown) {
      pairsOf(this);
      if (typeof callback !== 'function') throw new TypeError('The callback is not a function');
      for (let index = 0; index < pairsOf(this).length; index++) {
        const [key, value] = pairsOf(this)[index] as readonly [unknown, unknown];
        Reflect.apply(callback as Method, self, [value, key, this]);
      }
    },
  };
  for (const [key, value] of Object.entries(methods)) {
    Object.defineProperty(made.prototype, key, { value, writable: true, enumerable: true, configurable: true });
  }
  Object.defineProperty(methods.forEach, 'length', { value: 1, configurable: true });
  Object.defineProperty(made.prototype, Symbol.iterator, {
    value: methods.entries,
    writable: true,
    configurable: true,
  });
}

/** Reads a record (Web IDL 3.2.20): its own enumerable properties. Each is checked and read before the next. */
export function readWebIdlRecord(given: object): [name: string, value: unknown][] {
  const entries: [string, unknown][] = [];
  for (const key of Reflect.ownKeys(given)) {
    if (Reflect.getOwnPropertyDescriptor(given, key)?.enumerable !== true) continue;
    if (typeof key === 'symbol') throw new TypeError('A symbol is no name');
    entries.push([key, (given as Record<string, unknown>)[key]]);
  }
  return entries;
}
