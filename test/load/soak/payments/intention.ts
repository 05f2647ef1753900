/** One request of the soak. */
export interface Intention {
  readonly index: number;
  readonly relayerId: string;
  /** The address of the account that pays. */
  readonly from: string;
  /** One of the chain's own kinds of requests. */
  readonly kind: string;
  /** Describes the effect that only this request has, so that it can be found and counted on the chain. */
  readonly mark: string;
  /** The value of `Idempotency-Key`. The keys of later requests about it are derived from it. */
  readonly key: string;
  /** How long after the request it may be sent, in milliseconds; null: no limit. */
  readonly worthMs: number | null;
  /** Whether posts with the same body count as one request without a key, unless it ended without an effect. */
  readonly isOneByContent: boolean;
  /** The body of the send request, without `valid_until`. Each call may return a different one. */
  body(): Promise<Readonly<Record<string, unknown>>>;
}
