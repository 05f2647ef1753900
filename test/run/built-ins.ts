/** The value, the accessors and the attributes of a property. */
type Shape = readonly unknown[];

interface BuiltIn {
  readonly name: string;
  readonly object: object;
  readonly properties: ReadonlyMap<string | symbol, Shape>;
}

/** The test library sets these properties. */
const LIBRARYS = new Set<string | symbol>(['stackTraceLimit', 'prepareStackTrace']);

/** Prototypes that are only reachable through syntax. */
const UNNAMED = {
  GeneratorFunction: function* () {},
  AsyncFunction: async () => {},
  AsyncGeneratorFunction: async function* () {},
  ArrayIterator: [].values(),
  StringIterator: ''[Symbol.iterator](),
  MapIterator: new Map().values(),
  SetIterator: new Set().values(),
  TypedArray: Uint8Array.prototype,
};

/** Records the language's built-ins. Later it names those that a test file changed for the files after it. */
export class BuiltIns {
  readonly #all: readonly BuiltIn[] = listBuiltIns();

  /** Names the built-ins that have changed. Takes about a millisecond. */
  changed(): readonly string[] {
    return this.#all.flatMap(({ name, object, properties }) => {
      if (!Object.isExtensible(object)) return [`${name} (frozen)`];
      const now = propertiesOf(object);
      const keys = new Set([...properties.keys(), ...now.keys()]);
      return [...keys]
        .filter((key) => !sameShape(properties.get(key), now.get(key)))
        .map((key) => `${name}.${String(key)}`);
    });
  }
}

function listBuiltIns(): BuiltIn[] {
  const found = new Map<object, string>();
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const value: unknown = Object.getOwnPropertyDescriptor(globalThis, name)?.value;
    if (!isBuiltIn(name, value)) continue;
    found.set(value, name);
    const prototype: unknown = Reflect.getOwnPropertyDescriptor(value, 'prototype')?.value;
    if (typeof prototype === 'object' && prototype !== null) found.set(prototype, `${name}.prototype`);
  }
  for (const [name, sample] of Object.entries(UNNAMED)) found.set(Object.getPrototypeOf(sample), `${name}.prototype`);
  return [...found].map(([object, name]) => ({ name, object, properties: propertiesOf(object) }));
}

/**
 * The language's built-ins have capitalised names. Accessors, with which Node creates some globals late, do not count.
 */
function isBuiltIn(name: string, value: unknown): value is object {
  if (!/^[A-Z]/.test(name)) return false;
  return typeof value === 'function' || (typeof value === 'object' && value !== null);
}

function propertiesOf(object: object): ReadonlyMap<string | symbol, Shape> {
  const keys = Reflect.ownKeys(object).filter((key) => !LIBRARYS.has(key));
  return new Map(keys.map((key) => [key, shapeOf(Reflect.getOwnPropertyDescriptor(object, key))]));
}

function shapeOf(property: PropertyDescriptor = {}): Shape {
  const { value, get, set, writable, enumerable, configurable } = property as Record<string, unknown>;
  return [value, get, set, writable, enumerable, configurable];
}

function sameShape(before: Shape | undefined, after: Shape | undefined): boolean {
  return before !== undefined && after !== undefined && before.every((one, index) => Object.is(one, after[index]));
}
