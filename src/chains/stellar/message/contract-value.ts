import { Address, xdr } from '@stellar/stellar-sdk/base';
import { isObject } from '../../../domain/json/json.ts';
import { isAccount, isContract } from '../address.ts';
import { errorValueOf } from './contract-error.ts';
import { integer128, integer256, integerIn } from './contract-integer.ts';
import { ValueFault, within } from './value-fault.ts';

/** Deeper than any contract goes; the host has the same limit. */
const MAX_DEPTH = 100;

const MAX_SYMBOL = 32;

type Read = (value: unknown, depth: number) => xdr.ScVal;

const U32 = 2n ** 32n - 1n;
const U64 = 2n ** 64n - 1n;

const READERS: Readonly<Record<string, Read>> = {
  bool: (value) => xdr.ScVal.scvBool(boolean(value)),
  void: (value) => (value === null ? xdr.ScVal.scvVoid() : fail('expected null')),
  error: (value) => xdr.ScVal.scvError(errorValueOf(value)),
  u32: (value) => xdr.ScVal.scvU32(Number(integerIn(value, 0n, U32))),
  i32: (value) => xdr.ScVal.scvI32(Number(integerIn(value, -(2n ** 31n), 2n ** 31n - 1n))),
  u64: (value) => xdr.ScVal.scvU64(integerIn(value, 0n, U64)),
  i64: (value) => xdr.ScVal.scvI64(integerIn(value, -(2n ** 63n), 2n ** 63n - 1n)),
  timepoint: (value) => xdr.ScVal.scvTimepoint(integerIn(value, 0n, U64)),
  duration: (value) => xdr.ScVal.scvDuration(integerIn(value, 0n, U64)),
  u128: (value) => xdr.ScVal.scvU128(new xdr.Uint128Parts(integer128(value, false))),
  i128: (value) => xdr.ScVal.scvI128(new xdr.Int128Parts(integer128(value, true))),
  u256: (value) => xdr.ScVal.scvU256(new xdr.Uint256Parts(integer256(value, false))),
  i256: (value) => xdr.ScVal.scvI256(new xdr.Int256Parts(integer256(value, true))),
  bytes: (value) => xdr.ScVal.scvBytes(bytes(value)),
  string: (value) => xdr.ScVal.scvString(text(value)),
  symbol: (value) => xdr.ScVal.scvSymbol(symbolIn(value)),
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
  return within(type, () => read(value[type], depth));
}

/** The name of a function, or a symbol among arguments. */
export function symbolIn(value: unknown): string {
  const name = text(value);
  if (name.length > MAX_SYMBOL || !/^\w*$/.test(name)) {
    return fail(`expected at most ${MAX_SYMBOL} letters, digits and underscores`);
  }
  return name;
}

function listIn(value: unknown, depth: number): xdr.ScVal[] {
  if (!Array.isArray(value)) return fail('expected a list');
  return value.map((one: unknown, place) => within(place, () => contractValueOf(one, depth + 1)));
}

function entriesIn(value: unknown, depth: number): xdr.ScMapEntry[] {
  if (!Array.isArray(value)) return fail('expected a list of {key, val}');
  return value.map((one: unknown, place) =>
    within(place, () => {
      if (!isObject(one) || Object.keys(one).sort().join() !== 'key,val') return fail('expected {key, val}');
      return new xdr.ScMapEntry({
        key: within('key', () => contractValueOf(one['key'], depth + 1)),
        val: within('val', () => contractValueOf(one['val'], depth + 1)),
      });
    }),
  );
}

function addressIn(value: unknown): xdr.ScAddress {
  if (typeof value !== 'string' || !(isAccount(value) || isContract(value))) {
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
