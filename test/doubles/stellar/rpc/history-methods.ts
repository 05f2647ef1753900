import { type ClosedLedger, closeMeta, historyEntry } from '../node/closed-ledger.ts';
import type { Methods } from './method.ts';
import { type Fields, fieldsOf, mustBeBase64, numberIn, textIn } from './params.ts';
import { CODES, invalidParams, RpcError } from './rpc-error.ts';
import { detailsOf } from './transaction-answer.ts';
import type { View } from './view.ts';

const USUAL_LIMIT = 50;
const MAX_LIMIT = 200;

/** Methods that list ledgers and their contents, page by page. */
export const historyMethods: Methods = {
  getTransactions(view, fields) {
    const { startLedger, cursor, limit } = pageOf(view, fields);
    const from = cursor === '' ? { ledger: startLedger, order: 1 } : placeBehind(cursor);
    const page = ledgersFrom(view, from.ledger)
      .flatMap(({ landed }) => landed)
      .filter(({ ledger, order }) => ledger.sequence > from.ledger || order >= from.order)
      .slice(0, limit);
    const last = page.length === limit ? page.at(-1) : undefined;
    const { latest, oldest } = view;
    return {
      transactions: page.map((landed) => ({ ...detailsOf(landed), createdAt: Number(landed.ledger.closeTime) })),
      latestLedger: latest.sequence,
      latestLedgerCloseTimestamp: Number(latest.closeTime),
      oldestLedger: oldest.sequence,
      oldestLedgerCloseTimestamp: Number(oldest.closeTime),
      cursor: String(idOf(last?.ledger.sequence ?? latest.sequence, last?.order ?? latest.landed.length)),
    };
  },
  getLedgers(view, fields) {
    const { startLedger, cursor, limit } = pageOf(view, fields);
    const page = ledgersFrom(view, cursor === '' ? startLedger : Number(cursor) + 1).slice(0, limit);
    const { latest, oldest } = view;
    return {
      ledgers: page.map((ledger) => ({
        hash: ledger.hash,
        sequence: ledger.sequence,
        ledgerCloseTime: String(ledger.closeTime),
        headerXdr: historyEntry(ledger).toXdr('base64'),
        metadataXdr: closeMeta(ledger).toXdr('base64'),
      })),
      latestLedger: latest.sequence,
      latestLedgerCloseTime: Number(latest.closeTime),
      oldestLedger: oldest.sequence,
      oldestLedgerCloseTime: Number(oldest.closeTime),
      cursor: String(page.at(-1)?.sequence ?? cursor),
    };
  },
};

/** @throws RpcError for a page that the node does not have */
function pageOf(view: View, fields: Fields): { startLedger: number; cursor: string; limit: number } {
  mustBeBase64(fields);
  const pagination = fieldsOf(fields['pagination']);
  const [startLedger, limit] = [numberIn(fields, 'startLedger'), numberIn(pagination, 'limit')];
  const cursor = textIn(pagination, 'cursor');
  const refuse = (message: string) => new RpcError(CODES.invalidRequest, message);
  const [oldest, latest] = [view.oldest.sequence, view.latest.sequence];
  if (cursor !== '' && startLedger !== 0) {
    throw refuse(`startLedger (${startLedger}) and cursor (${cursor}) cannot both be set`);
  }
  if (cursor === '' && (startLedger < oldest || startLedger > latest)) {
    throw refuse(
      `start ledger (${startLedger}) must be between the oldest ledger: ${oldest} and the latest ledger: ${latest} for this rpc instance`,
    );
  }
  if (limit > MAX_LIMIT) throw refuse(`limit must not exceed ${MAX_LIMIT}`);
  if (cursor !== '' && !/^\d{1,19}$/.test(cursor)) {
    throw invalidParams(`strconv.ParseInt: parsing "${cursor}": invalid syntax`);
  }
  return { startLedger, cursor, limit: limit || USUAL_LIMIT };
}

/** The position of a transaction's first operation in the total order (SEP-35). */
const idOf = (ledger: number, order: number): bigint => (BigInt(ledger) << 32n) | (BigInt(order) << 12n) | 1n;

function placeBehind(cursor: string): { ledger: number; order: number } {
  const id = BigInt(cursor);
  return { ledger: Number(id >> 32n), order: Number((id >> 12n) & 0xfffffn) + 1 };
}

function ledgersFrom(view: View, first: number): ClosedLedger[] {
  const ledgers: ClosedLedger[] = [];
  for (let sequence = Math.max(first, view.oldest.sequence); sequence <= view.latest.sequence; sequence += 1) {
    const ledger = view.ledgerAt(sequence);
    if (ledger !== undefined) ledgers.push(ledger);
  }
  return ledgers;
}
