import type { xdr } from '@stellar/stellar-sdk';

/** The resources and events of a contract's transaction. */
export class Meter {
  /** The refundable part of the resource fee. What is not used of it is refunded. */
  readonly mostRefundable: bigint;
  readonly nonRefundable: bigint;
  rent = 0n;
  eventsFee = 0n;
  events: readonly xdr.ContractEvent[] = [];
  diagnostics: readonly xdr.DiagnosticEvent[] = [];
  returnValue: xdr.ScVal | null = null;

  constructor(resourceFee: bigint, nonRefundable: bigint) {
    this.nonRefundable = nonRefundable;
    this.mostRefundable = resourceFee - nonRefundable;
  }

  /** Adds costs. Returns false if the fee does not cover them. */
  consume(rent: bigint, eventsFee: bigint): boolean {
    this.rent += rent;
    this.eventsFee += eventsFee;
    return this.rent + this.eventsFee <= this.mostRefundable;
  }

  get refund(): bigint {
    return this.mostRefundable - this.rent - this.eventsFee;
  }

  /** Resets the refundable costs, because a failed transaction uses none. */
  reset(): void {
    this.rent = 0n;
    this.eventsFee = 0n;
    this.events = [];
    this.returnValue = null;
  }
}
