import { xdr } from '@stellar/stellar-sdk';
import { blankResult } from '../operations/operation.ts';
import type { Frame } from './frame.ts';

/** The result code of a refused transaction. */
export type Refusal = Exclude<xdr.InnerTransactionResultResult['type'], 'txSuccess' | 'txFailed'>;
type Code = 'txSuccess' | 'txFailed' | Refusal;

/** The result of one transaction, while it is checked and applied. */
export class Outcome {
  feeCharged: bigint;
  /** One result for each operation. Reported only with `txSuccess` or `txFailed`. */
  readonly operations: xdr.OperationResult[];
  readonly #frame: Frame;
  /** The code of the transaction itself, without its fee bump. */
  #code: Code = 'txSuccess';
  /** The code of the fee bump, if it fails before its inner transaction is checked. */
  #outerCode: Refusal | undefined;

  /** Starts as a success. */
  constructor(frame: Frame, feeCharged: bigint) {
    this.#frame = frame;
    this.feeCharged = feeCharged;
    this.operations = frame.inner.tx.operations.map(({ body }) => blankResult(body));
  }

  /** An outcome that was refused before the detailed checks. */
  static refused(frame: Frame, code: Refusal, feeCharged = 0n): Outcome {
    return new Outcome(frame, feeCharged).refuse(code);
  }

  get isSuccess(): boolean {
    return this.#code === 'txSuccess' && this.#outerCode === undefined;
  }

  /** The code of the transaction itself, without its fee bump. */
  get innermostCode(): Code {
    return this.#code;
  }

  /** The code of the whole envelope. */
  get code(): string {
    if (this.#outerCode !== undefined) return this.#outerCode;
    if (this.#frame.kind === 'transaction') return this.#code;
    return this.#code === 'txSuccess' ? 'txFeeBumpInnerSuccess' : 'txFeeBumpInnerFailed';
  }

  /** Refuses the envelope: the fee bump if there is one, or else the transaction. */
  refuse(code: Refusal): this {
    if (this.#frame.kind === 'transaction') this.#code = code;
    else this.#outerCode = code;
    return this;
  }

  /** Sets the code of the transaction itself, also within a fee bump. */
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
          // Since protocol 25, the inner transaction is charged nothing.
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
