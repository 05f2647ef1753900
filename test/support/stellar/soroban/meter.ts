import type { xdr } from '@stellar/stellar-sdk';

/** What a contract's transaction uses, and what it tells. */
export class Meter {
  /** The part of the resource fee that is given back as far as it is not used. */
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

  /** False when the fee does not reach for it. */
  consume(rent: bigint, eventsFee: bigint): boolean {
    this.rent += rent;
    this.eventsFee += eventsFee;
    return this.rent + this.eventsFee <= this.mostRefundable;
  }

  get refund(): bigint {
    return this.mostRefundable - this.rent - this.eventsFee;
  }

  /** What fails uses nothing of what is refundable. */
  reset(): void {
    this.rent = 0n;
    this.eventsFee = 0n;
    this.events = [];
    this.returnValue = null;
  }
}
