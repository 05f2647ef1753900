import { Address, Contract, nativeToScVal, scValToBigInt, xdr } from '@stellar/stellar-sdk/base';

/** A call of a contract's function, without consents. */
export function callOf(contract: string, name: string, args: readonly xdr.ScVal[]): xdr.Operation {
  return new Contract(contract).call(name, ...args);
}

export function addressValue(address: string): xdr.ScVal {
  return Address.fromString(address).toScVal();
}

/** An amount of a token (SEP-41). */
export function amountValue(amount: bigint): xdr.ScVal {
  return nativeToScVal(amount, { type: 'i128' });
}

export function listValue(values: readonly xdr.ScVal[]): xdr.ScVal {
  return xdr.ScVal.scvVec([...values]);
}

/** @throws TypeError for a value that is no amount of a token */
export function amountOfValue(value: xdr.ScVal | null | undefined): bigint {
  const amount = value?.type === 'scvI128' ? scValToBigInt(value) : -1n;
  if (amount < 0n) throw new TypeError('not an amount of a token');
  return amount;
}
