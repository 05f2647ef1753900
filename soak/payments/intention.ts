/** One request of the soak. */
export interface Intention {
  readonly index: number;
  readonly relayerId: string;
  /** The account that pays, in the words of the chain. */
  readonly from: string;
  /** In the words of the chain. */
  readonly kind: string;
  /** What only this request does: by it its effects can be told and counted on the chain. */
  readonly mark: string;
  /** What goes into `Idempotency-Key`, or makes the keys of what is asked of it later. */
  readonly key: string;
  /** For how long after it is asked for it may be sent, in milliseconds; null: for ever. */
  readonly worthMs: number | null;
  /** Whether its body alone makes it one request, however often it is posted, as long as it did not end in vain. */
  readonly isOneByContent: boolean;
  /** The body of the send request, but for `valid_until`. It may be another each time. */
  body(): Promise<Readonly<Record<string, unknown>>>;
}
