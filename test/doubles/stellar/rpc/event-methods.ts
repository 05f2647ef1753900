import { StrKey, type xdr } from '@stellar/stellar-sdk';
import type { ClosedLedger } from '../node/closed-ledger.ts';
import { eventFilterIn } from './event-filter.ts';
import type { Methods } from './method.ts';
import { type Fields, fieldsOf, mustBeBase64, numberIn, textIn } from './params.ts';
import { CODES, invalidParams, RpcError } from './rpc-error.ts';
import type { View } from './view.ts';

const USUAL_LIMIT = 100;
const MAX_LIMIT = 10_000;
/** The number of ledgers that one call searches. */
const MAX_LEDGERS = 10_000;

/** A ledger's last place for transactions, for events that come after all of them. */
const LAST_ORDER = 0xfffffn;

/** Methods about the events of contracts and fees. */
export const eventMethods: Methods = {
  getEvents(view, fields) {
    mustBeBase64(fields);
    const { from, until, limit } = rangeOf(view, fields);
    const fits = eventFilterIn(fields);
    const { latest, oldest } = view;
    const found: Told[] = [];
    for (let sequence = ledgerOf(from); sequence < until && found.length < limit; sequence += 1) {
      const ledger = view.ledgerAt(sequence);
      if (ledger !== undefined) found.push(...toldIn(ledger).filter(({ id, event }) => id >= from && fits(event)));
    }
    const events = found.slice(0, limit);
    const last = events.length === limit ? events.at(-1)?.id : undefined;
    return {
      events: events.map(infoOf),
      cursor: last ?? idOf({ ledger: until - 1, order: LAST_ORDER, operation: 0xfffn, index: 0xffff_ffffn }),
      latestLedger: latest.sequence,
      oldestLedger: oldest.sequence,
      latestLedgerCloseTime: String(latest.closeTime),
      oldestLedgerCloseTime: String(oldest.closeTime),
    };
  },
};

/** An event with its position and its transaction. */
interface Told {
  readonly id: string;
  readonly event: xdr.ContractEvent;
  readonly ledger: ClosedLedger;
  readonly hash: string;
  readonly order: number;
  readonly operation: number;
  readonly isSuccessful: boolean;
}

interface Place {
  readonly ledger: number;
  readonly order: bigint;
  readonly operation: bigint;
  readonly index: bigint;
}

/** An event id. Ids sort as text. */
function idOf({ ledger, order, operation, index }: Place): string {
  const id = (BigInt(ledger) << 32n) | (order << 12n) | operation;
  return `${String(id).padStart(19, '0')}-${String(index).padStart(10, '0')}`;
}

const ledgerOf = (id: string): number => Number(BigInt(id.slice(0, 19)) >> 32n);

/** The events of a ledger: all fees first, then events of operations, then all refunds of fees. */
function toldIn(ledger: ClosedLedger): Told[] {
  const [before, within, after]: [Told[], Told[], Told[]] = [[], [], []];
  for (const { frame, order, isSuccessful, meta } of ledger.landed) {
    if (meta.type !== 'v4') continue;
    const tell = (event: xdr.ContractEvent, of: number, operation: number, index: number): Told => ({
      id: idOf({
        ledger: ledger.sequence,
        order: BigInt(of),
        operation: BigInt(operation),
        index: BigInt(index),
      }),
      event,
      ledger,
      hash: frame.hash,
      order: of,
      operation,
      isSuccessful,
    });
    for (const { stage, event } of meta.v4.events) {
      if (stage.name === 'transactionEventStageBeforeAllTxs') before.push(tell(event, 0, 0, before.length));
      else after.push(tell(event, Number(LAST_ORDER), 0, after.length));
    }
    for (const [operation, { events }] of meta.v4.operations.entries()) {
      within.push(...events.map((event, index) => tell(event, order, operation, index)));
    }
  }
  return [...before, ...within, ...after];
}

function infoOf({ id, event, ledger, hash, order, operation, isSuccessful }: Told) {
  const { topics, data } = event.body.v0;
  return {
    type: event.type.name,
    ledger: ledger.sequence,
    ledgerClosedAt: new Date(Number(ledger.closeTime) * 1000).toISOString().replace('.000Z', 'Z'),
    contractId: event.contractId === null ? '' : StrKey.encodeContract(event.contractId.toBytes()),
    id,
    operationIndex: operation,
    transactionIndex: order,
    txHash: hash,
    inSuccessfulContractCall: isSuccessful,
    topic: topics.map((topic) => topic.toXdr('base64')),
    value: data.toXdr('base64'),
  };
}

/**
 * The first place, the ledger after the last one, and the number of events.
 * @throws RpcError for ledgers that the node does not have
 */
function rangeOf(view: View, fields: Fields): { from: string; until: number; limit: number } {
  const pagination = fieldsOf(fields['pagination']);
  const [start, end] = [numberIn(fields, 'startLedger'), numberIn(fields, 'endLedger')];
  const [cursor, limit] = [textIn(pagination, 'cursor'), numberIn(pagination, 'limit')];
  if (cursor !== '' && (start !== 0 || end !== 0)) throw invalidParams('ledger ranges and cursor cannot both be set');
  if (cursor === '' && start === 0) throw invalidParams('startLedger must be positive');
  if (limit > MAX_LIMIT) throw invalidParams(`limit must not exceed ${MAX_LIMIT}`);
  const from = cursor === '' ? idOf({ ledger: start, order: 0n, operation: 0n, index: 0n }) : behind(cursor);
  const [oldest, latest] = [view.oldest.sequence, view.latest.sequence];
  const first = ledgerOf(from);
  if (first < oldest || first > latest) {
    throw new RpcError(CODES.invalidRequest, `startLedger must be within the ledger range: ${oldest} - ${latest}`);
  }
  const until = Math.min(first + MAX_LEDGERS, latest + 1, end === 0 ? Number.POSITIVE_INFINITY : end);
  return { from, until, limit: limit || USUAL_LIMIT };
}

function behind(cursor: string): string {
  const [id, index, ...rest] = cursor.split('-');
  if (id === undefined || index === undefined || rest.length > 0 || !/^\d{1,19}-\d{1,10}$/.test(cursor)) {
    throw invalidParams('invalid parameters');
  }
  return `${id.padStart(19, '0')}-${String(BigInt(index) + 1n).padStart(10, '0')}`;
}
