import { xdr } from '@stellar/stellar-sdk';
import { raiseSequence, removeSubEntry } from '../ledger/account.ts';
import type { AccountId, Header } from '../ledger/entry.ts';
import { accountIn, type Change, type State } from '../ledger/state.ts';
import { type Acting, isSuccess } from '../operations/operation.ts';
import { operationOf } from '../operations/registry.ts';
import type { Frame, TransactionFrame } from './frame.ts';
import { checkOperationSignature } from './operation-signature.ts';
import type { Outcome } from './outcome.ts';
import { SignatureChecker } from './signature-checker.ts';
import { progressOf } from './validity.ts';

/** The changes that a transaction made to the ledger. */
export interface Applied {
  /** Changes before the operations: the sequence, and removed one-time signers. */
  readonly before: readonly Change[];
  /** The changes of each operation. Empty if one operation failed. */
  readonly operations: readonly (readonly Change[])[];
}

export type Surroundings = Pick<Acting, 'nextId' | 'sequenceInLedger' | 'networkId' | 'meter'>;

/** Applies a transaction after its fee was taken. Writes the result to the outcome. */
export function applyTransaction(
  frame: Frame,
  state: State,
  header: Header,
  outcome: Outcome,
  surroundings: Surroundings,
): Applied {
  const { inner } = frame;
  const before = state.above();
  if (frame.kind === 'fee-bump') removeOneTimeSigner(before, header, frame.feeSource, frame.hash);
  const checker = new SignatureChecker(inner.hash, inner.signatures);
  const bench = { state: before, header, ledger: header.sequence, earliest: 0n, latest: 0n, isApplying: true };
  const progress = progressOf(inner, bench, outcome, checker, frame.kind === 'transaction');
  if (progress !== 'refused') raiseSequence(before, header, inner.source, inner.sequence);
  const isSigned = progress === 'valid' && areOperationsSigned(inner, before, checker, outcome);
  for (const id of new Set([inner.source, ...inner.operationSources])) {
    removeOneTimeSigner(before, header, id, inner.hash);
  }
  const told = before.changes();
  state.take(before);
  return { before: told, operations: isSigned ? applyOperations(inner, state, header, outcome, surroundings) : [] };
}

function areOperationsSigned(
  frame: TransactionFrame,
  state: State,
  checker: SignatureChecker,
  outcome: Outcome,
): boolean {
  let areSigned = true;
  for (const [index, { body }] of frame.tx.operations.entries()) {
    const fault = checkOperationSignature(frame, index, operationOf(body), state, checker, false);
    if (fault === undefined) continue;
    outcome.operations[index] = fault;
    areSigned = false;
  }
  if (!areSigned) outcome.failInner('txFailed');
  else if (!checker.areAllUsed) outcome.failInner('txBadAuthExtra');
  return areSigned && checker.areAllUsed;
}

/** Tries all operations. If one fails, none of their changes counts. */
function applyOperations(
  frame: TransactionFrame,
  state: State,
  header: Header,
  outcome: Outcome,
  surroundings: Surroundings,
): Change[][] {
  const all = state.forTransaction();
  const changes: Change[][] = [];
  let areGood = true;
  for (const [index, { body }] of frame.tx.operations.entries()) {
    const own = all.above();
    const source = frame.operationSources[index] ?? frame.source;
    const result = perform(body, { ...surroundings, transaction: frame, place: index, state: own, header, source });
    outcome.operations[index] = result;
    changes.push(own.changes());
    if (isSuccess(result)) all.take(own);
    else areGood = false;
  }
  // Every sponsorship that was begun has to end within the transaction (CAP-33).
  if (areGood && all.sponsors.size > 0) {
    outcome.failInner('txBadSponsorship');
    return [];
  }
  if (areGood) {
    state.take(all);
    return changes;
  }
  outcome.failInner('txFailed');
  return [];
}

function perform(body: xdr.OperationBody, acting: Acting): xdr.OperationResult {
  // An earlier operation may have merged the source away.
  if (accountIn(acting.state, acting.source) === undefined) return xdr.OperationResult.opNoAccount();
  const operation = operationOf(body);
  return operation.check(acting.source, acting.transaction) ?? operation.apply(acting);
}

/** Removes a signer that is valid for one transaction, whether the transaction succeeds or not. */
function removeOneTimeSigner(state: State, header: Header, id: AccountId, hash: string): void {
  const account = accountIn(state, id);
  const key = xdr.SignerKey.signerKeyTypePreAuthTx(hash).toXdr('base64');
  const known = account?.signers.find((signer) => signer.key === key);
  if (account === undefined || known === undefined) return;
  state.put({ ...account, signers: account.signers.filter((signer) => signer.key !== key) });
  removeSubEntry(state, header, id, known.sponsor);
}
