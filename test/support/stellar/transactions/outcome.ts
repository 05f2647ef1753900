import { xdr } from '@stellar/stellar-sdk';
import { blankResult } from '../operations/operation.ts';
import type { Frame } from './frame.ts';

/** What becomes of a transaction, but for a success and for operations that failed. */
export type Refusal = Exclude<xdr.InnerTransactionResultResult['type'], 'txSuccess' | 'txFailed'>;
type Code = 'txSuccess' | 'txFailed' | Refusal;

/** The result of one transaction while it is judged and applied. */
export class Outcome {
  feeCharged: bigint;
  /** One for each operation; they are told only with a success or `txFailed`. */
  readonly operations: xdr.OperationResult[];
  readonly #frame: Frame;
  /** Of the transaction itself, which a fee bump may carry. */
  #code: Code = 'txSuccess';
  /** Of the fee bump, when it fails before what it carries is looked at. */
  #outerCode: Refusal | undefined;

  /** A success so far. */
  constructor(frame: Frame, feeCharged: bigint) {
    this.#frame = frame;
    this.feeCharged = feeCharged;
    this.operations = frame.inner.tx.operations.map(({ body }) => blankResult(body));
  }

  /** Refused before it was looked at closely. */
  static refused(frame: Frame, code: Refusal, feeCharged = 0n): Outcome {
    return new Outcome(frame, feeCharged).refuse(code);
  }

  get isSuccess(): boolean {
    return this.#code === 'txSuccess' && this.#outerCode === undefined;
  }

  /** The code of the transaction itself. */
  get innermostCode(): Code {
    return this.#code;
  }

  /** The code that is told first. */
  get code(): string {
    if (this.#outerCode !== undefined) return this.#outerCode;
    if (this.#frame.kind === 'transaction') return this.#code;
    return this.#code === 'txSuccess' ? 'txFeeBumpInnerSuccess' : 'txFeeBumpInnerFailed';
  }

  /** Refuses the envelope itself: the fee bump, where there is one. */
  refuse(code: Refusal): this {
    if (this.#frame.kind === 'transaction') this.#code = code;
    else this.#outerCode = code;
    return this;
  }

  /** Refuses the transaction, within the fee bump where there is one. */
  failInner(code: Refusal | 'txFailed'): void {
    this.#code = code;
  }

  toXdr(): xdr.TransactionResult {
    return new xdr.TransactionResult({
      feeCharged: this.feeCharged,
      result: this.#result(),
      ext: xdr.TransactionResultExt.v0(),
    });
  }

  #result(): xdr.TransactionResultResult {
    const Result = xdr.TransactionResultResult;
    if (this.#outerCode !== undefined) return Result[this.#outerCode]();
    if (this.#frame.kind === 'fee-bump') {
      const pair = new xdr.InnerTransactionResultPair({
        transactionHash: this.#frame.inner.hash,
        result: new xdr.InnerTransactionResult({
          // Since protocol 25 nothing is charged to the transaction within.
          feeCharged: 0n,
          result: this.#innerResult(),
          ext: xdr.InnerTransactionResultExt.v0(),
        }),
      });
      return this.isSuccess ? Result.txFeeBumpInnerSuccess(pair) : Result.txFeeBumpInnerFailed(pair);
    }
    if (this.#code === 'txSuccess') return Result.txSuccess(this.operations);
    return this.#code === 'txFailed' ? Result.txFailed(this.operations) : Result[this.#code]();
  }

  #innerResult(): xdr.InnerTransactionResultResult {
    const Result = xdr.InnerTransactionResultResult;
    if (this.#code === 'txSuccess') return Result.txSuccess(this.operations);
    return this.#code === 'txFailed' ? Result.txFailed(this.operations) : Result[this.#code]();
  }
}
