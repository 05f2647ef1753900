/**
 * The size of a bucket, in microseconds: how long one token takes to come back, and how long a whole bucket takes to
 * fill.
 */
export interface BucketSize {
  tokenUs: number;
  fullUs: number;
}

/** The answer to a request for tokens. */
export interface BucketAnswer {
  allowed: boolean;
  /**
   * How long the bucket takes to be full again, in microseconds. For a refused request, this was measured before the
   * request.
   */
  missingUs: number;
}

/** Token buckets that instances on one database share. They use the database's time. */
export interface Buckets {
  /**
   * Takes `count` tokens from the subject's bucket, or one token by default. Takes all or none. A new bucket is full.
   */
  take(subject: string, size: BucketSize, count?: number): Promise<BucketAnswer>;
}
