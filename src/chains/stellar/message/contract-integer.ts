import { xdr } from '@stellar/stellar-sdk/base';
import { isObject } from '../../../domain/json/json.ts';
import { ValueFault, within } from './value-fault.ts';

const U64 = 2n ** 64n - 1n;
const I64 = 2n ** 63n - 1n;

/** An integer as a JSON number or a decimal text; a number beyond 2^53 has lost digits already. */
export function integerIn(value: unknown, least: bigint, most: bigint): bigint {
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
    within(name, () =>
      isSigned && place === 0 ? integerIn(value[name], -I64 - 1n, I64) : integerIn(value[name], 0n, U64),
    ),
  );
}

function whole(value: unknown, isSigned: boolean, bits: bigint): bigint {
  return isSigned
    ? integerIn(value, -(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n)
    : integerIn(value, 0n, 2n ** bits - 1n);
}

function integerOf(value: unknown): bigint | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === 'string' && /^-?\d{1,80}$/.test(value)) return BigInt(value);
  return undefined;
}
