import { xdr } from '@stellar/stellar-sdk';
import { accountIn, type Reader } from '../ledger/state.ts';
import type { Operation } from '../operations/operation.ts';
import type { TransactionFrame } from './frame.ts';
import type { SignatureChecker } from './signature-checker.ts';

/** Undefined if the operation's source has signed with enough weight. Otherwise the result of the operation. */
export function checkOperationSignature(
  frame: TransactionFrame,
  index: number,
  { threshold }: Operation,
  state: Reader,
  checker: SignatureChecker,
  isApplying: boolean,
): xdr.OperationResult | undefined {
  const source = frame.operationSources[index] ?? frame.source;
  const account = accountIn(state, source);
  if (account !== undefined) {
    const isSigned = checker.checkAccount(account, account.thresholds[threshold]);
    return isSigned ? undefined : xdr.OperationResult.opBadAuth();
  }
  // Before the transaction is applied, the account may be missing, because an earlier operation can create it.
  const isOwn = frame.tx.operations[index]?.sourceAccount !== null;
  if (isApplying || !isOwn) return xdr.OperationResult.opNoAccount();
  return checker.checkKey(source) ? undefined : xdr.OperationResult.opBadAuth();
}
