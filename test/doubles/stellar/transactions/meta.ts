import { Asset, xdr } from '@stellar/stellar-sdk';
import { keyToXdr } from '../ledger/entry-key.ts';
import { toLedgerEntry } from '../ledger/entry-xdr.ts';
import type { Change, Stored } from '../ledger/state.ts';
import { eventOf } from '../soroban/contract-events.ts';
import type { Meter } from '../soroban/meter.ts';
import { value } from '../soroban/values.ts';
import type { Applied } from './apply.ts';
import type { Frame } from './frame.ts';

export interface Paid {
  readonly passphrase: string;
  /** The fee that was taken before any transaction was applied. */
  readonly taken: bigint;
  /** The final fee. */
  readonly charged: bigint;
}

/** The changes of a transaction, in the format of nodes since protocol 23 (CAP-67). */
export function metaOf(frame: Frame, { before, operations }: Applied, meter: Meter, paid: Paid): xdr.TransactionMeta {
  const ext = xdr.ExtensionPoint.v0();
  return xdr.TransactionMeta.v4(
    new xdr.TransactionMetaV4({
      ext,
      txChangesBefore: before.flatMap(changeXdr),
      operations: operations.map(
        (changes) => new xdr.OperationMetaV2({ ext, changes: changes.flatMap(changeXdr), events: [...meter.events] }),
      ),
      txChangesAfter: [],
      sorobanMeta: frame.isSoroban ? sorobanMeta(meter) : null,
      events: feeEvents(frame, paid),
      diagnosticEvents: [...meter.diagnostics],
    }),
  );
}

function sorobanMeta(meter: Meter): xdr.SorobanTransactionMetaV2 {
  const charged = new xdr.SorobanTransactionMetaExtV1({
    ext: xdr.ExtensionPoint.v0(),
    totalNonRefundableResourceFeeCharged: meter.nonRefundable,
    totalRefundableResourceFeeCharged: meter.mostRefundable - meter.refund,
    rentFeeCharged: meter.rent,
  });
  return new xdr.SorobanTransactionMetaV2({
    ext: xdr.SorobanTransactionMetaExt.v1(charged),
    returnValue: meter.returnValue,
  });
}

/** The fee and its refund, as events of the native asset's contract. */
function feeEvents({ feeSource, isSoroban }: Frame, { passphrase, taken, charged }: Paid): xdr.TransactionEvent[] {
  const Stage = xdr.TransactionEventStage;
  const tell = (stage: xdr.TransactionEventStage, amount: bigint) => {
    const topics = [value.symbol('fee'), value.address(feeSource)];
    const event = eventOf(Asset.native().contractId(passphrase), 'contract', topics, value.i128(amount));
    return new xdr.TransactionEvent({ stage, event });
  };
  const first = tell(Stage.transactionEventStageBeforeAllTxs, taken);
  return isSoroban ? [first, tell(Stage.transactionEventStageAfterAllTxs, charged - taken)] : [first];
}

/** The old state of an entry comes before the new one. */
export function changeXdr({ before, after }: Change): xdr.LedgerEntryChange[] {
  const Told = xdr.LedgerEntryChange;
  if (before === undefined) return after === undefined ? [] : [Told.ledgerEntryCreated(entryXdr(after))];
  const state = Told.ledgerEntryState(entryXdr(before));
  if (after === undefined) return [state, Told.ledgerEntryRemoved(keyToXdr(before.entry))];
  return [state, Told.ledgerEntryUpdated(entryXdr(after))];
}

const entryXdr = ({ entry, modified }: Stored): xdr.LedgerEntry => toLedgerEntry(entry, modified);
