import { xdr } from '@stellar/stellar-sdk';
import { keyToXdr } from '../ledger/entry-key.ts';
import { toLedgerEntry } from '../ledger/entry-xdr.ts';
import type { Change, Stored } from '../ledger/state.ts';
import type { Applied } from './apply.ts';

/** What a transaction changed, as nodes tell it since protocol 23 (CAP-67). */
export function metaOf({ before, operations }: Applied): xdr.TransactionMeta {
  return xdr.TransactionMeta.v4(
    new xdr.TransactionMetaV4({
      ext: xdr.ExtensionPoint.v0(),
      txChangesBefore: before.flatMap(changeXdr),
      operations: operations.map(
        (changes) =>
          new xdr.OperationMetaV2({ ext: xdr.ExtensionPoint.v0(), changes: changes.flatMap(changeXdr), events: [] }),
      ),
      txChangesAfter: [],
      sorobanMeta: null,
      events: [],
      diagnosticEvents: [],
    }),
  );
}

/** What an entry was comes before what it is. */
export function changeXdr({ before, after }: Change): xdr.LedgerEntryChange[] {
  const Told = xdr.LedgerEntryChange;
  if (before === undefined) return after === undefined ? [] : [Told.ledgerEntryCreated(entryXdr(after))];
  const state = Told.ledgerEntryState(entryXdr(before));
  if (after === undefined) return [state, Told.ledgerEntryRemoved(keyToXdr(before.entry))];
  return [state, Told.ledgerEntryUpdated(entryXdr(after))];
}

const entryXdr = ({ entry, modified }: Stored): xdr.LedgerEntry => toLedgerEntry(entry, modified);
