import type { xdr } from '@stellar/stellar-sdk';
import type { ClosedLedger } from '../node/closed-ledger.ts';
import type { View } from './view.ts';

/** The numbers of recent ledgers that count: stellar-rpc's defaults. */
const CLASSIC_WINDOW = 10;
const SOROBAN_WINDOW = 50;

export interface Distribution {
  readonly fees: readonly bigint[];
  readonly ledgers: number;
}

export type Phase = 'classic' | 'soroban';

/** The fees paid per operation in the last ledgers, without resource fees, lowest first. */
export function paidLately(view: View, phase: Phase): Distribution {
  const size = phase === 'classic' ? CLASSIC_WINDOW : SOROBAN_WINDOW;
  const newest = view.latest.sequence;
  const ledgers = Array.from({ length: size }, (_, back) => view.ledgerAt(newest - back)).filter(
    (ledger): ledger is ClosedLedger => ledger !== undefined,
  );
  const fees = ledgers.flatMap(({ landed }) =>
    landed.flatMap(({ frame, feeCharged, meta }) => {
      if (frame.isSoroban !== (phase === 'soroban')) return [];
      // A fee bump counts as many operations as its inner transaction.
      return [phase === 'soroban' ? feeCharged - usedFor(meta) : feeCharged / BigInt(frame.inner.size)];
    }),
  );
  return { fees: fees.sort((one, other) => (one < other ? -1 : one > other ? 1 : 0)), ledgers: ledgers.length };
}

/** The part of a fee that was spent on resources, from the meta. The fee no longer contains refunds. */
function usedFor(meta: xdr.TransactionMeta): bigint {
  const told = meta.type === 'v4' ? meta.v4.sorobanMeta?.ext : undefined;
  if (told?.type !== 'v1') return 0n;
  return told.v1.totalNonRefundableResourceFeeCharged + told.v1.totalRefundableResourceFeeCharged;
}

/** The percentile by the nearest rank. */
export function percentile(fees: readonly bigint[], share: number): bigint {
  return fees[Math.ceil((share * fees.length) / 100) - 1] ?? 0n;
}

/** The most common fee; the lowest one if several are equally common. */
export function modeOf(fees: readonly bigint[]): bigint {
  const counts = new Map<bigint, number>();
  for (const fee of fees) counts.set(fee, (counts.get(fee) ?? 0) + 1);
  let mode = fees[0] ?? 0n;
  for (const [fee, count] of counts) if (count > (counts.get(mode) ?? 0)) mode = fee;
  return mode;
}
