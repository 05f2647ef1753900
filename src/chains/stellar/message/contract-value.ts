import { Address, xdr } from '@stellar/stellar-sdk/base';
import { isObject } from '../../../domain/json/json.ts';
import { isAccountAddress, isContractAddress } from '../address.ts';

/** A fault in the argument of a contract, and its place in the argument. */
export class ValueFault extends Error {
  readonly path: readonly PropertyKey[];

  constructor(message: string, path: readonly PropertyKey[] = []) {
    super(message);
    this.name = 'ValueFault';
    this.path = path;
  }
}

/** Reads a part of a value. A fault in the part is thrown with the place of the part. */
export function atKey<T>(key: PropertyKey, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ValueFault) throw new ValueFault(error.message, [key, ...error.path]);
    throw error;
  }
}

const U64 = 2n ** 64n - 1n;

const I64 = 2n ** 63n - 1n;

/** An integer as a JSON number or a decimal text; a number beyond 2^53 has lost digits already. */
export function parseInteger(value: unknown, least: bigint, most: bigint): bigint {
  const read = integerOf(value);
  if (read !== undefined && read >= least && read <= most) return read;
  throw new ValueFault(`expected an integer from ${least} to ${most}, as a number or a decimal text`);
}

/** 128 bits as `{hi, lo}`, or as one integer. */
export function integer128(value: unknown, isSigned: boolean): { hi: bigint; lo: bigint } {
  if (!isObject(value)) return xdr.bigIntTo128Parts(whole(value, isSigned, 128n), isSigned);
  const [hi = 0n, lo = 0n] = partsOf(value, ['hi', 'lo'], isSigned);
  return { hi, lo };
}

/** 256 bits as `{hi_hi, hi_lo, lo_hi, lo_lo}`, or as one integer. */
export function integer256(value: unknown, isSigned: boolean): Record<'hiHi' | 'hiLo' | 'loHi' | 'loLo', bigint> {
  if (!isObject(value)) return xdr.bigIntTo256Parts(whole(value, isSigned, 256n), isSigned);
  const names = ['hi_hi', 'hi_lo', 'lo_hi', 'lo_lo'];
  const [hiHi = 0n, hiLo = 0n, loHi = 0n, loLo = 0n] = partsOf(value, names, isSigned);
  return { hiHi, hiLo, loHi, loLo };
}

/** Reads the named parts. Only the first part has a sign. */
function partsOf(value: Record<string, unknown>, names: readonly string[], isSigned: boolean): bigint[] {
  const isThese = Object.keys(value).length === names.length && names.every((name) => Object.hasOwn(value, name));
  if (!isThese) throw new ValueFault(`expected {${names.join(', ')}}`);
  return names.map((name, place) =>
    atKey(name, () =>
      isSigned && place === 0 ? parseInteger(value[name], -I64 - 1n, I64) : parseInteger(value[name], 0n, U64),
    ),
  );
}

function whole(value: unknown, isSigned: boolean, bits: bigint): bigint {
  return isSigned
    ? parseInteger(value, -(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n)
    : parseInteger(value, 0n, 2n ** bits - 1n);
}

function integerOf(value: unknown): bigint | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === 'string' && /^-?\d{1,80}$/.test(value)) return BigInt(value);
  return undefined;
}

/** The kinds of errors of the host, by their names in JSON. */
const KINDS: Readonly<Record<string, (code: xdr.ScErrorCode) => xdr.ScError>> = {
  wasm_vm: (code) => xdr.ScError.sceWasmVm(code),
  context: (code) => xdr.ScError.sceContext(code),
  storage: (code) => xdr.ScError.sceStorage(code),
  object: (code) => xdr.ScError.sceObject(code),
  crypto: (code) => xdr.ScError.sceCrypto(code),
  events: (code) => xdr.ScError.sceEvents(code),
  budget: (code) => xdr.ScError.sceBudget(code),
  value: (code) => xdr.ScError.sceValue(code),
  auth: (code) => xdr.ScError.sceAuth(code),
};

const CODES: Readonly<Record<string, xdr.ScErrorCode>> = {
  arith_domain: xdr.ScErrorCode.scecArithDomain,
  index_bounds: xdr.ScErrorCode.scecIndexBounds,
  invalid_input: xdr.ScErrorCode.scecInvalidInput,
  missing_value: xdr.ScErrorCode.scecMissingValue,
  existing_value: xdr.ScErrorCode.scecExistingValue,
  exceeded_limit: xdr.ScErrorCode.scecExceededLimit,
  invalid_action: xdr.ScErrorCode.scecInvalidAction,
  internal_error: xdr.ScErrorCode.scecInternalError,
  unexpected_type: xdr.ScErrorCode.scecUnexpectedType,
  unexpected_size: xdr.ScErrorCode.scecUnexpectedSize,
};

/**
 * An error as a value: `{"contract": 7}`, `{"auth": "invalid_action"}`.
 * @throws ValueFault
 */
export function errorValueOf(value: unknown): xdr.ScError {
  const [kind, ...more] = isObject(value) ? Object.keys(value) : [];
  if (!isObject(value) || kind === undefined || more.length > 0) throw new ValueFault('expected one kind of error');
  const inside = value[kind];
  return atKey(kind, () => {
    if (kind === 'contract') return xdr.ScError.sceContract(Number(parseInteger(inside, 0n, 2n ** 32n - 1n)));
    const make = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
    if (make === undefined) throw new ValueFault(`expected one of contract, ${Object.keys(KINDS).join(', ')}`);
    const code = typeof inside === 'string' && Object.hasOwn(CODES, inside) ? CODES[inside] : undefined;
    if (code === undefined) throw new ValueFault(`expected one of ${Object.keys(CODES).join(', ')}`);
    return make(code);
  });
}

/** Deeper than any contract goes; the host has the same limit. */
const MAX_DEPTH = 100;

const MAX_SYMBOL = 32;

type Read = (value: unknown, depth: number) => xdr.ScVal;

const U32 = 2n ** 32n - 1n;

const READERS: Readonly<Record<string, Read>> = {
  bool: (value) => xdr.ScVal.scvBool(boolean(value)),
  void: (value) => (value === null ? xdr.ScVal.scvVoid() : fail('expected null')),
  error: (value) => xdr.ScVal.scvError(errorValueOf(value)),
  u32: (value) => xdr.ScVal.scvU32(Number(parseInteger(value, 0n, U32))),
  i32: (value) => xdr.ScVal.scvI32(Number(parseInteger(value, -(2n ** 31n), 2n ** 31n - 1n))),
  u64: (value) => xdr.ScVal.scvU64(parseInteger(value, 0n, U64)),
  i64: (value) => xdr.ScVal.scvI64(parseInteger(value, -(2n ** 63n), 2n ** 63n - 1n)),
  timepoint: (value) => xdr.ScVal.scvTimepoint(parseInteger(value, 0n, U64)),
  duration: (value) => xdr.ScVal.scvDuration(parseInteger(value, 0n, U64)),
  u128: (value) => xdr.ScVal.scvU128(new xdr.Uint128Parts(integer128(value, false))),
  i128: (value) => xdr.ScVal.scvI128(new xdr.Int128Parts(integer128(value, true))),
  u256: (value) => xdr.ScVal.scvU256(new xdr.Uint256Parts(integer256(value, false))),
  i256: (value) => xdr.ScVal.scvI256(new xdr.Int256Parts(integer256(value, true))),
  bytes: (value) => xdr.ScVal.scvBytes(bytes(value)),
  string: (value) => xdr.ScVal.scvString(text(value)),
  symbol: (value) => xdr.ScVal.scvSymbol(parseSymbol(value)),
  vec: (value, depth) => xdr.ScVal.scvVec(listIn(value, depth)),
  map: (value, depth) => xdr.ScVal.scvMap(entriesIn(value, depth)),
  address: (value) => xdr.ScVal.scvAddress(addressIn(value)),
};

/**
 * Reads a contract's argument from its JSON form: one key, which names its type (stellar-xdr of generation 23).
 * @throws ValueFault
 */
export function contractValueOf(value: unknown, depth = 0): xdr.ScVal {
  if (depth > MAX_DEPTH) return fail(`expected at most ${MAX_DEPTH} levels`);
  if (value === 'void') return xdr.ScVal.scvVoid();
  if (!isObject(value)) return fail('expected an object with one key, the type of the value');
  const [type, ...more] = Object.keys(value);
  if (type === undefined || more.length > 0) return fail('expected exactly one key, the type of the value');
  const read = Object.hasOwn(READERS, type) ? READERS[type] : undefined;
  if (read === undefined) return fail(`expected one of ${Object.keys(READERS).join(', ')}`);
  return atKey(type, () => read(value[type], depth));
}

/** The name of a function, or a symbol among arguments. */
export function parseSymbol(value: unknown): string {
  const name = text(value);
  if (name.length > MAX_SYMBOL || !/^\w*$/.test(name)) {
    return fail(`expected at most ${MAX_SYMBOL} letters, digits and underscores`);
  }
  return name;
}

function listIn(value: unknown, depth: number): xdr.ScVal[] {
  if (!Array.isArray(value)) return fail('expected a list');
  return value.map((one: unknown, place) => atKey(place, () => contractValueOf(one, depth + 1)));
}

function entriesIn(value: unknown, depth: number): xdr.ScMapEntry[] {
  if (!Array.isArray(value)) return fail('expected a list of {key, val}');
  return value.map((one: unknown, place) =>
    atKey(place, () => {
      if (!isObject(one) || Object.keys(one).sort().join() !== 'key,val') return fail('expected {key, val}');
      return new xdr.ScMapEntry({
        key: atKey('key', () => contractValueOf(one['key'], depth + 1)),
        val: atKey('val', () => contractValueOf(one['val'], depth + 1)),
      });
    }),
  );
}

function addressIn(value: unknown): xdr.ScAddress {
  if (typeof value !== 'string' || !(isAccountAddress(value) || isContractAddress(value))) {
    return fail('expected an account (G…) or a contract (C…)');
  }
  return new Address(value).toScAddress();
}

function boolean(value: unknown): boolean {
  return typeof value === 'boolean' ? value : fail('expected true or false');
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : fail('expected a text');
}

function bytes(value: unknown): Buffer {
  if (typeof value !== 'string' || !/^(?:[0-9a-fA-F]{2})*$/.test(value)) {
    return fail('expected an even number of hexadecimal digits');
  }
  return Buffer.from(value, 'hex');
}

function fail(message: string): never {
  throw new ValueFault(message);
}
