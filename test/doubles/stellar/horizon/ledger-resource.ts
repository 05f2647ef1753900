import type { ClosedLedger } from '../node/closed-ledger.ts';
import { PROTOCOL } from '../node/closed-ledger.ts';
import { amountOf, timeOf } from './amount.ts';
import { placeOf } from './page.ts';

export function ledgerResource(base: string, ledger: ClosedLedger) {
  const { sequence, hash, header, landed } = ledger;
  const successful = landed.filter(({ isSuccessful }) => isSuccessful);
  const operations = (of: typeof landed) => of.reduce((count, { frame }) => count + frame.inner.size, 0);
  return {
    _links: links(base, sequence),
    id: hash,
    paging_token: String(placeOf(sequence)),
    hash,
    prev_hash: Buffer.from(header.previousLedgerHash.toBytes()).toString('hex'),
    sequence,
    successful_transaction_count: successful.length,
    failed_transaction_count: landed.length - successful.length,
    operation_count: operations(successful),
    tx_set_operation_count: operations(landed),
    closed_at: timeOf(ledger.closeTime),
    total_coins: amountOf(header.totalCoins),
    fee_pool: amountOf(header.feePool),
    base_fee_in_stroops: Number(ledger.baseFee),
    base_reserve_in_stroops: Number(ledger.baseReserve),
    max_tx_set_size: ledger.maxOperations,
    protocol_version: PROTOCOL,
    header_xdr: header.toXdr('base64'),
  };
}

function links(base: string, sequence: number) {
  const self = `${base}/ledgers/${sequence}`;
  const paged = (of: string) => ({ href: `${self}/${of}{?cursor,limit,order}`, templated: true });
  return {
    self: { href: self },
    ...Object.fromEntries(['transactions', 'operations', 'payments', 'effects'].map((of) => [of, paged(of)])),
  };
}
