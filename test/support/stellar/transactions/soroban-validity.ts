import type { Frame, TransactionFrame } from './frame.ts';
import type { Refusal } from './outcome.ts';
import type { Bench } from './validity.ts';

/** The protocol's bound for what resources may cost. */
const MOST_RESOURCE_FEE = 1n << 50n;

/** stellar-core's `XDRProvidesValidFee`. */
export function isFeeWellFormed(frame: Frame): boolean {
  if (frame.fullFee < 0n) return false;
  if (!frame.isSoroban) return true;
  const { sorobanData } = frame.inner;
  if (sorobanData === undefined) return false;
  return sorobanData.resourceFee >= 0n && sorobanData.resourceFee <= MOST_RESOURCE_FEE;
}

/** What the rules for contracts' transactions refuse before the account is looked at. */
export function sorobanFault(frame: TransactionFrame, _bench: Bench, paysItself: boolean): Refusal | undefined {
  if (!frame.isSoroban) return frame.sorobanData === undefined ? undefined : 'txMalformed';
  if (frame.size !== 1) return 'txMalformed';
  return paysItself && frame.resourceFee > frame.fullFee ? 'txSorobanInvalid' : undefined;
}
