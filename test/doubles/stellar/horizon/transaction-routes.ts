import type { xdr } from '@stellar/stellar-sdk';
import { accountIdOf, accountOfMuxed } from '../ledger/address.ts';
import type { Landed } from '../node/closed-ledger.ts';
import type { View } from '../rpc/view.ts';
import { pageOf } from './page.ts';
import { accountPart, hashPart } from './params.ts';
import { PROBLEMS, Problem } from './problem.ts';
import type { Asked, Route } from './route.ts';
import { statusOfAsync, submit, submitAsync } from './submission.ts';
import { transactionResource } from './transaction-resource.ts';

const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data'];

export const transactionRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/transactions',
    name: 'submit',
    async answer(asked) {
      mustBeForm(asked);
      const { landed, hash } = await submit(asked.view, asked.params.get('tx') ?? '');
      return transactionResource(asked.base, landed, hash);
    },
  },
  {
    method: 'POST',
    path: '/transactions_async',
    name: 'submitAsync',
    answer(asked) {
      mustBeForm(asked);
      return submitAsync(asked.view, asked.params.get('tx') ?? '');
    },
    statusOf: statusOfAsync,
  },
  {
    method: 'GET',
    path: '/transactions/:tx_id',
    name: 'transaction',
    answer(asked) {
      const hash = hashPart(asked, 'tx_id');
      const landed = asked.view.landed(hash);
      if (landed === undefined) throw new Problem(PROBLEMS.notFound);
      return transactionResource(asked.base, landed, hash);
    },
  },
  {
    method: 'GET',
    path: '/transactions',
    name: 'transactions',
    answer: (asked) => transactionPage(asked, landedIn(asked.view)),
  },
  {
    method: 'GET',
    path: '/ledgers/:sequence/transactions',
    name: 'ledgerTransactions',
    answer: (asked) => transactionPage(asked, asked.view.ledgerAt(Number(asked.parts['sequence']))?.landed ?? []),
  },
  {
    method: 'GET',
    path: '/accounts/:account_id/transactions',
    name: 'accountTransactions',
    answer(asked) {
      const account = accountPart(asked, 'account_id');
      return transactionPage(
        asked,
        landedIn(asked.view).filter((landed) => participantsOf(landed).has(account)),
      );
    },
  },
];

function mustBeForm({ form }: Asked): void {
  if (form !== '' && !FORMS.includes(form)) throw new Problem(PROBLEMS.unsupportedMediaType);
}

function transactionPage(asked: Asked, landed: readonly Landed[]) {
  const failedToo = asked.params.get('include_failed') === 'true';
  return pageOf(asked, () =>
    landed
      .filter(({ isSuccessful }) => isSuccessful || failedToo)
      .map((one) => transactionResource(asked.base, one, one.frame.hash)),
  );
}

/** All transactions in the node's history, in order. */
function landedIn(view: View): Landed[] {
  const first = view.oldest.sequence;
  return Array.from({ length: view.latest.sequence - first + 1 }, (_, index) => view.ledgerAt(first + index)).flatMap(
    (ledger) => ledger?.landed ?? [],
  );
}

/**
 * The accounts that a transaction concerns: those that pay, act or are named in it, and those whose entries it changed.
 */
function participantsOf({ frame, meta }: Landed): Set<string> {
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
