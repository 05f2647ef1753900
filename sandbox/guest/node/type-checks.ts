type Check = (value: unknown) => boolean;

const TypedArray = Object.getPrototypeOf(Uint8Array) as { prototype: object };

const kindOf = getter(TypedArray.prototype, Symbol.toStringTag) as (this: unknown) => string | undefined;

const { toString } = Object.prototype;

const KINDS = [
  'Uint8Array',
  'Uint8ClampedArray',
  'Uint16Array',
  'Uint32Array',
  'Int8Array',
  'Int16Array',
  'Int32Array',
  'Float16Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
] as const;

/** Functions that work on objects of one kind only. They throw for all others, also for imitations. */
const SLOTS: Record<string, (value: unknown) => unknown> = {
  isDate: (value) => Date.prototype.getTime.call(value as Date),
  isRegExp: (value) => {
    if (value === RegExp.prototype) throw new TypeError('no pattern');
    return getter(RegExp.prototype, 'source').call(value);
  },
  isMap: (value) => getter(Map.prototype, 'size').call(value),
  isSet: (value) => getter(Set.prototype, 'size').call(value),
  isWeakMap: (value) => WeakMap.prototype.has.call(value as WeakMap<object, unknown>, {}),
  isWeakSet: (value) => WeakSet.prototype.has.call(value as WeakSet<object>, {}),
  isArrayBuffer: (value) => getter(ArrayBuffer.prototype, 'byteLength').call(value),
  isDataView: (value) => getter(DataView.prototype, 'byteLength').call(value),
  isNumberObject: (value) => Number.prototype.valueOf.call(value),
  isStringObject: (value) => String.prototype.valueOf.call(value),
  isBooleanObject: (value) => Boolean.prototype.valueOf.call(value),
  isBigIntObject: (value) => BigInt.prototype.valueOf.call(value as bigint),
  isSymbolObject: (value) => Symbol.prototype.valueOf.call(value as symbol),
};

function getter(object: object, key: string | symbol): (this: unknown) => unknown {
  return Object.getOwnPropertyDescriptor(object, key)?.get as () => unknown;
}

/** Node's `util.types`. A proxy cannot be told from its target here. */
export function createTypeChecks(): Record<string, Check> {
  const checks: Record<string, Check> = {};
  for (const [name, look] of Object.entries(SLOTS)) {
    checks[name] = (value) => {
      if (typeof value !== 'object' || value === null) return false;
      try {
        look(value);
        return true;
      } catch {
        return false;
      }
    };
  }
  for (const kind of KINDS) checks[`is${kind}`] = (value) => ArrayBuffer.isView(value) && kindOf.call(value) === kind;
  const boxes = ['isNumberObject', 'isStringObject', 'isBooleanObject', 'isBigIntObject', 'isSymbolObject'];
  const tagged =
    (tag: string): Check =>
    (value) =>
      tagOf(value) === tag;
  return {
    ...checks,
    isTypedArray: (value) => ArrayBuffer.isView(value) && kindOf.call(value) !== undefined,
    isArrayBufferView: ArrayBuffer.isView,
    isAnyArrayBuffer: (value) => checks['isArrayBuffer']?.(value) === true,
    isSharedArrayBuffer: () => false,
    isBoxedPrimitive: (value) => boxes.some((name) => checks[name]?.(value) === true),
    isNativeError: (value) => (Error as { isError?: Check }).isError?.(value) ?? value instanceof Error,
    isPromise: (value) => value instanceof Promise,
    isArgumentsObject: (value) =>
      typeof value === 'object' && value !== null && !(Symbol.toStringTag in value) && tagOf(value) === 'Arguments',
    isAsyncFunction: (value) => typeof value === 'function' && /^Async(Generator)?Function$/.test(tagOf(value)),
    isGeneratorFunction: (value) => typeof value === 'function' && /^(Async)?GeneratorFunction$/.test(tagOf(value)),
    isGeneratorObject: (value) => typeof value === 'object' && /^(Async)?Generator$/.test(tagOf(value)),
    isMapIterator: tagged('Map Iterator'),
    isSetIterator: tagged('Set Iterator'),
    isModuleNamespaceObject: (value) => tagOf(value) === 'Module',
    isCryptoKey: (value) => tagOf(value) === 'CryptoKey',
    isKeyObject: (value) =>
      /^(Secret|Public|Private)KeyObject$/.test((value as object | null)?.constructor?.name ?? ''),
    isProxy: () => false,
    isExternal: () => false,
  };
}

function tagOf(value: unknown): string {
  return toString.call(value).slice('[object '.length, -1);
}
