import { availableBalance } from '../ledger/account.ts';
import { type AccountEntry, type Header, MAX_INT64, startingSequence } from '../ledger/entry.ts';
import { accountIn, type Reader } from '../ledger/state.ts';
import { operationOf } from '../operations/registry.ts';
import { feeAt, minimumInclusionFee } from './fee.ts';
import type { FeeBumpFrame, Frame, TransactionFrame } from './frame.ts';
import { checkOperationSignature } from './operation-signature.ts';
import { Outcome, type Refusal } from './outcome.ts';
import { SignatureChecker } from './signature-checker.ts';
import { isFeeWellFormed, sorobanFault } from './soroban-validity.ts';

/** The conditions under which a transaction is checked. */
export interface Bench {
  readonly state: Reader;
  readonly header: Header;
  /** The ledger that would include it, for bounds on ledger numbers. */
  readonly ledger: number;
  /** The earliest and latest time at which it may be applied, in seconds from the header's close time. */
  readonly earliest: bigint;
  readonly latest: bigint;
  /** Whether the fee was already taken. If not, the balance must cover it. */
  readonly isApplying: boolean;
}

/** How far the checks went. From `sequence` on, the transaction uses up its sequence. */
export type Progress = 'refused' | 'sequence' | 'valid';

/** Whether a transaction is valid now, as far as this is known without applying it: stellar-core's `checkValid`. */
export function judge(frame: Frame, bench: Bench): Outcome {
  if (!isFeeWellFormed(frame)) return Outcome.refused(frame, 'txMalformed');
  const outcome = new Outcome(frame, feeAt(frame, bench.header.baseFee));
  if (frame.kind === 'fee-bump') {
    const refused = feeBumpFault(frame, bench, outcome);
    if (refused !== undefined) return outcome.refuse(refused);
  }
  judgeInner(frame.inner, bench, outcome, frame.kind === 'transaction');
  return outcome;
}

function judgeInner(frame: TransactionFrame, bench: Bench, outcome: Outcome, paysItself: boolean): void {
  const checker = new SignatureChecker(frame.hash, frame.signatures);
  if (progressOf(frame, bench, outcome, checker, paysItself) !== 'valid') return;
  for (const [index, { body }] of frame.tx.operations.entries()) {
    const operation = operationOf(body);
    const source = frame.operationSources[index] ?? frame.source;
    const fault =
      checkOperationSignature(frame, index, operation, bench.state, checker, false) ?? operation.check(source, frame);
    if (fault === undefined) continue;
    outcome.operations[index] = fault;
    outcome.failInner('txFailed');
    return;
  }
  if (!checker.areAllUsed) outcome.failInner('txBadAuthExtra');
}

/** stellar-core's `commonValid`. Writes a refusal to the outcome. */
export function progressOf(
  frame: TransactionFrame,
  bench: Bench,
  outcome: Outcome,
  checker: SignatureChecker,
  paysItself: boolean,
): Progress {
  const refuse = (code: Refusal, progress: Progress): Progress => {
    outcome.failInner(code);
    return progress;
  };
  const early = preconditionFault(frame, bench, paysItself);
  if (early !== undefined) return refuse(early, 'refused');
  const account = accountIn(bench.state, frame.source);
  if (account === undefined) return refuse('txNoAccount', 'refused');
  if (isBadSequence(frame, account, bench)) return refuse('txBadSeq', 'refused');
  if (isTooEarlyForAccount(frame, account, bench)) return refuse('txBadMinSeqAgeOrGap', 'sequence');
  const isSigned =
    checker.checkAccount(account, account.thresholds.low) &&
    checker.checkExtra(frame.preconditions?.extraSigners ?? []);
  if (!isSigned) return refuse('txBadAuth', 'sequence');
  const due = bench.isApplying ? 0n : frame.fullFee;
  if (paysItself && availableBalance(bench.header, account) < due) return refuse('txInsufficientBalance', 'sequence');
  return 'valid';
}

/** Checks that need no account. */
function preconditionFault(frame: TransactionFrame, bench: Bench, paysItself: boolean): Refusal | undefined {
  const [one, other] = frame.preconditions?.extraSigners ?? [];
  if (one !== undefined && other !== undefined && one.equals(other)) return 'txMalformed';
  if (frame.size === 0) return 'txMissingOperation';
  const fault = sorobanFault(frame, paysItself);
  if (fault !== undefined) return fault;
  const { timeBounds } = frame;
  const ledgers = frame.preconditions?.ledgerBounds ?? null;
  const { closeTime } = bench.header;
  if (timeBounds !== null && timeBounds.minTime > closeTime + bench.earliest) return 'txTooEarly';
  if (ledgers !== null && ledgers.minLedger > bench.ledger) return 'txTooEarly';
  const maxTime = timeBounds?.maxTime ?? 0n;
  if (maxTime !== 0n && maxTime < closeTime + bench.latest) return 'txTooLate';
  if (ledgers !== null && ledgers.maxLedger !== 0 && ledgers.maxLedger <= bench.ledger) return 'txTooLate';
  if (paysItself && frame.inclusionFee < minimumInclusionFee(frame, bench.header)) return 'txInsufficientFee';
  return undefined;
}

function isBadSequence({ sequence, preconditions }: TransactionFrame, account: AccountEntry, bench: Bench): boolean {
  if (sequence === startingSequence(bench.header.sequence)) return true;
  const least = preconditions?.minSeqNum ?? null;
  if (least !== null) return account.sequence < least || account.sequence >= sequence;
  return account.sequence === MAX_INT64 || account.sequence + 1n !== sequence;
}

function isTooEarlyForAccount({ preconditions }: TransactionFrame, account: AccountEntry, bench: Bench): boolean {
  if (preconditions === undefined) return false;
  const time = bench.header.closeTime + bench.earliest;
  const { minSeqAge, minSeqLedgerGap } = preconditions;
  return time - minSeqAge < account.sequenceTime || bench.ledger - minSeqLedgerGap < account.sequenceLedger;
}

/**
 * CAP-15: the bump pays for one more operation, and bids at least as much for each operation as the inner transaction.
 */
function feeBumpFault(frame: FeeBumpFrame, bench: Bench, outcome: Outcome): Refusal | undefined {
  const { header, state } = bench;
  const least = minimumInclusionFee(frame, header);
  if (frame.inclusionFee < least) return 'txInsufficientFee';
  const { inner } = frame;
  const innerLeast = minimumInclusionFee(inner, header);
  // The inner fee of a contract transaction may be below its resource fee. The bump then pays for the resources too.
  if (inner.inclusionFee >= 0n && frame.inclusionFee * innerLeast < inner.inclusionFee * least) {
    outcome.feeCharged = (inner.inclusionFee * least + innerLeast - 1n) / innerLeast;
    return 'txInsufficientFee';
  }
  const payer = accountIn(state, frame.feeSource);
  if (payer === undefined) return 'txNoAccount';
  const checker = new SignatureChecker(frame.hash, frame.signatures);
  if (!checker.checkAccount(payer, payer.thresholds.low)) return 'txBadAuth';
  const due = bench.isApplying ? 0n : frame.fullFee;
  if (availableBalance(header, payer) < due) return 'txInsufficientBalance';
  return checker.areAllUsed ? undefined : 'txBadAuthExtra';
}
