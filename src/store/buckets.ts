/** How a bucket fills and how much is in it, in microseconds: what one token takes to come back, and a whole bucket. */
export interface BucketSize {
  tokenUs: number;
  fullUs: number;
}

/** What came of asking for tokens. */
export interface BucketAnswer {
  allowed: boolean;
  /** What the bucket takes to be full again, in microseconds; of one that refused, before it was asked. */
  missingUs: number;
}

/** Token buckets that instances on one database share. Time is the database's. */
export interface Buckets {
  /** Takes tokens of the subject's bucket, all or none; one where no `count` is given. One that was never asked is full. */
  take(subject: string, size: BucketSize, count?: number): Promise<BucketAnswer>;
}
