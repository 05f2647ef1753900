import type { xdr } from '@stellar/stellar-sdk';
import { accountIdOf, accountOfMuxed } from '../ledger/address.ts';
import type { Landed } from '../node/closed-ledger.ts';

/**
 * The accounts that a transaction concerns: those that pay, act or are named in it, and those whose entries it changed.
 */
export function participantsOf({ frame, meta }: Landed): Set<string> {
  const { txChangesBefore, operations, txChangesAfter } =
    meta.type === 'v4' ? meta.v4 : { txChangesBefore: [], operations: [], txChangesAfter: [] };
  const changes = [txChangesBefore, ...operations.map((one) => one.changes), txChangesAfter].flat();
  return new Set([
    frame.feeSource,
    frame.source,
    ...frame.inner.operationSources,
    ...frame.inner.tx.operations.flatMap(namedIn),
    ...changes.flatMap(ownerOf),
  ]);
}

function namedIn({ body }: xdr.Operation): string[] {
  switch (body.type) {
    case 'createAccount':
      return [accountIdOf(body.createAccountOp.destination)];
    case 'payment':
      return [accountOfMuxed(body.paymentOp.destination)];
    case 'pathPaymentStrictReceive':
      return [accountOfMuxed(body.pathPaymentStrictReceiveOp.destination)];
    case 'pathPaymentStrictSend':
      return [accountOfMuxed(body.pathPaymentStrictSendOp.destination)];
    case 'accountMerge':
      return [accountOfMuxed(body.destination)];
    case 'allowTrust':
      return [accountIdOf(body.allowTrustOp.trustor)];
    case 'setTrustLineFlags':
      return [accountIdOf(body.setTrustLineFlagsOp.trustor)];
    default:
      return [];
  }
}

function ownerOf(change: xdr.LedgerEntryChange): string[] {
  if (change.type === 'ledgerEntryRemoved') return ownerAt(change.removed);
  return ownerAt(change.value.data);
}

function ownerAt(of: xdr.LedgerKey | xdr.LedgerEntryData): string[] {
  if (of.type === 'account') return [accountIdOf(of.account.accountId)];
  if (of.type === 'trustline') return [accountIdOf(of.trustLine.accountId)];
  if (of.type === 'offer') return [accountIdOf(of.offer.sellerId)];
  return of.type === 'data' ? [accountIdOf(of.data.accountId)] : [];
}
