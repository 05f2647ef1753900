import type { Entry } from '../ledger/entry.ts';
import type { Change } from '../ledger/state.ts';
import { SETTINGS } from './settings.ts';
import { sizeOf } from './storage.ts';

/** The resources that a transaction declares or a simulation finds. */
export interface Resources {
  readonly instructions: number;
  readonly diskReadEntries: number;
  readonly writeEntries: number;
  readonly diskReadBytes: number;
  readonly writeBytes: number;
  readonly transactionBytes: number;
}

/** The assumed size of a result in archives. */
const RESULT_BYTES = 300;
const TTL_BYTES = 48;
const CODE_DISCOUNT = 3n;

/** The fee that is not refunded: soroban-env-host's `compute_transaction_resource_fee`. */
export function nonRefundableFee(resources: Resources): bigint {
  const { fees } = SETTINGS;
  return (
    perIncrement(resources.instructions, fees.per10kInstructions, 10_000n) +
    fees.perDiskReadEntry * BigInt(resources.diskReadEntries) +
    fees.perWriteEntry * BigInt(resources.writeEntries) +
    perIncrement(resources.diskReadBytes, fees.perDiskRead1kb) +
    perIncrement(resources.writeBytes, fees.perWrite1kb) +
    perIncrement(resources.transactionBytes + RESULT_BYTES, fees.perHistory1kb) +
    perIncrement(resources.transactionBytes, fees.perTransaction1kb)
  );
}

/** The fee for events and for a function's return value. */
export const eventsFee = (bytes: number): bigint => perIncrement(bytes, SETTINGS.fees.perEvents1kb);

/** The fee for longer lifetimes and larger entries: soroban-env-host's `compute_rent_fee`. */
export function rentFee(changes: readonly Change[], ledger: number): bigint {
  let fee = 0n;
  let extended = 0;
  for (const { before, after } of changes) {
    if (after === undefined || !('liveUntil' in after.entry)) continue;
    const [was, is] = [lifeOf(before?.entry, ledger), lifeOf(after.entry, ledger)];
    fee += rentOf(after.entry, was, is, ledger);
    if (was.until < is.until) extended += 1;
  }
  return (
    fee + SETTINGS.fees.perWriteEntry * BigInt(extended) + perIncrement(TTL_BYTES * extended, SETTINGS.fees.perWrite1kb)
  );
}

interface Life {
  readonly until: number;
  readonly size: number;
}

/** The lifetime of an entry. An expired entry counts as new. */
function lifeOf(entry: Entry | undefined, ledger: number): Life {
  if (entry === undefined || !('liveUntil' in entry) || entry.liveUntil < ledger) return { until: 0, size: 0 };
  return { until: entry.liveUntil, size: sizeOf(entry) };
}

function rentOf(entry: Entry, was: Life, is: Life, ledger: number): bigint {
  const isNew = was.until === 0;
  const longer = is.until - (isNew ? ledger - 1 : was.until);
  const prepaid = isNew ? 0 : was.until - ledger + 1;
  const fee =
    (longer > 0 ? rentFor(entry, is.size, longer) : 0n) +
    (prepaid > 0 && is.size > was.size ? rentFor(entry, is.size - was.size, prepaid) : 0n);
  return entry.kind === 'contract-code' ? divideUp(fee, CODE_DISCOUNT) : fee;
}

function rentFor(entry: Entry, bytes: number, ledgers: number): bigint {
  const isTemporary = entry.kind === 'contract-data' && entry.durability === 'temporary';
  const { persistentRentDenominator, temporaryRentDenominator } = SETTINGS.life;
  const denominator = isTemporary ? temporaryRentDenominator : persistentRentDenominator;
  return divideUp(BigInt(bytes) * SETTINGS.fees.perRent1kb * BigInt(ledgers), 1024n * denominator);
}

const perIncrement = (amount: number, rate: bigint, increment = 1024n): bigint =>
  divideUp(BigInt(amount) * rate, increment);

const divideUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor;
