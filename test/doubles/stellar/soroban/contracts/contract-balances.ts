import type { xdr } from '@stellar/stellar-sdk';
import type { Host } from '../host.ts';
import { CONTRACT_ERRORS, contractError } from '../host-error.ts';
import { read, value } from '../values.ts';

const MAX_INT128 = 2n ** 127n - 1n;

const keyOf = (owner: string): xdr.ScVal => value.vec(value.symbol('Balance'), value.address(owner));

/** A balance in a token's own storage. */
export function keptBalance(host: Host, token: string, owner: string): bigint {
  host.charge();
  const found = host.storage.data(token, keyOf(owner), 'persistent');
  return found === undefined ? 0n : read.i128(read.field(found, 'amount'));
}

/** @throws HostError if the balance is too low */
export function addToKeptBalance(host: Host, token: string, owner: string, delta: bigint): void {
  const balance = keptBalance(host, token, owner);
  const amount = balance + delta;
  if (amount < 0n || amount > MAX_INT128) {
    const words = 'balance is not sufficient to spend';
    throw contractError(CONTRACT_ERRORS.balance, words, value.i128(balance), value.i128(-delta));
  }
  const kept = { amount: value.i128(amount), authorized: value.bool(true), clawback: value.bool(false) };
  host.storage.putData(token, keyOf(owner), 'persistent', value.struct(kept));
}
