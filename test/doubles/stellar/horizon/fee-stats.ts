import type { Landed } from '../node/closed-ledger.ts';
import { modeOf, percentile } from '../rpc/fee-window.ts';
import type { View } from '../rpc/view.ts';

/** The number of recent ledgers that count. */
const WINDOW = 5;
const SHARES = [10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99];

/** The recent prices and bids of operations. Contracts' operations count in full, with their resource fees. */
export function feeStats(view: View) {
  const { latest } = view;
  const ledgers = Array.from({ length: WINDOW }, (_, back) => view.ledgerAt(latest.sequence - back) ?? []).flat();
  const landed = ledgers.flatMap((ledger) => ledger.landed);
  const operations = landed.reduce((count, { frame }) => count + frame.inner.size, 0);
  const capacity = ledgers.reduce((sum, { maxOperations }) => sum + maxOperations, 0);
  const each = (fee: (one: Landed) => bigint) =>
    distribution(
      landed.map((one) => upBy(fee(one), BigInt(one.frame.size))),
      latest.baseFee,
    );
  return {
    last_ledger: String(latest.sequence),
    last_ledger_base_fee: String(latest.baseFee),
    ledger_capacity_usage: String(Math.round((operations / capacity) * 100) / 100),
    fee_charged: each(({ feeCharged }) => feeCharged),
    max_fee: each(({ frame }) => frame.fullFee),
  };
}

/** Without any transactions, all values are the base fee. */
function distribution(some: readonly bigint[], baseFee: bigint) {
  const fees = (some.length === 0 ? [baseFee] : [...some]).sort((one, other) => (one < other ? -1 : 1));
  return {
    max: String(fees.at(-1)),
    min: String(fees[0]),
    mode: String(modeOf(fees)),
    ...Object.fromEntries(SHARES.map((share) => [`p${share}`, String(percentile(fees, share))])),
  };
}

const upBy = (fee: bigint, count: bigint): bigint => (fee + count - 1n) / count;
