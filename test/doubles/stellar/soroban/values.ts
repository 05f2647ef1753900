import { Address, nativeToScVal, scValToBigInt, xdr } from '@stellar/stellar-sdk';
import { addressOf } from '../ledger/address.ts';
import { hostError } from './host-error.ts';

/** Values that contracts take and give. */
export const value = {
  void: () => xdr.ScVal.scvVoid(),
  bool: (flag: boolean) => xdr.ScVal.scvBool(flag),
  u32: (number: number) => xdr.ScVal.scvU32(number),
  i128: (number: bigint) => nativeToScVal(number, { type: 'i128' }),
  symbol: (text: string) => xdr.ScVal.scvSymbol(text),
  text: (text: string) => xdr.ScVal.scvString(text),
  bytes: (bytes: Uint8Array) => xdr.ScVal.scvBytes(bytes),
  address: (address: string) => Address.fromString(address).toScVal(),
  vec: (...values: readonly xdr.ScVal[]) => xdr.ScVal.scvVec([...values]),
  /** A struct: a map with symbols as keys, in the host's order. */
  struct: (fields: Readonly<Record<string, xdr.ScVal>>) =>
    xdr.ScVal.scvMap(
      Object.keys(fields)
        .sort()
        .map((name) => new xdr.ScMapEntry({ key: value.symbol(name), val: fields[name] ?? value.void() })),
    ),
};

const wrongType = (found: xdr.ScVal, wanted: string) =>
  hostError('Value', 'UnexpectedType', `expected ${wanted}, got ${found.type}`);

/**
 * Reads a contract's arguments.
 * @throws HostError for a value of another type
 */
export const read = {
  i128(found: xdr.ScVal | undefined): bigint {
    if (found?.type !== 'scvI128') throw wrongType(found ?? value.void(), 'i128');
    return scValToBigInt(found);
  },
  u32(found: xdr.ScVal | undefined): number {
    if (found?.type !== 'scvU32') throw wrongType(found ?? value.void(), 'u32');
    return found.u32;
  },
  symbol(found: xdr.ScVal | undefined): string {
    if (found?.type !== 'scvSymbol') throw wrongType(found ?? value.void(), 'symbol');
    return found.sym.toString();
  },
  bytes(found: xdr.ScVal | undefined): Uint8Array {
    if (found?.type !== 'scvBytes') throw wrongType(found ?? value.void(), 'bytes');
    return found.bytes.toBytes();
  },
  address(found: xdr.ScVal | undefined): string {
    if (found?.type !== 'scvAddress') throw wrongType(found ?? value.void(), 'address');
    return addressOf(found.address);
  },
  vec(found: xdr.ScVal | undefined): readonly xdr.ScVal[] {
    if (found?.type !== 'scvVec') throw wrongType(found ?? value.void(), 'vec');
    return found.vec ?? [];
  },
  /** A field of a struct. */
  field(found: xdr.ScVal, name: string): xdr.ScVal {
    const fields = found.type === 'scvMap' ? (found.map ?? []) : [];
    const entry = fields.find(({ key }) => key.type === 'scvSymbol' && key.sym.toString() === name);
    if (entry === undefined) throw wrongType(found, `struct with ${name}`);
    return entry.val;
  },
};
