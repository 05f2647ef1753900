import { z } from 'zod';
import type { Json } from './json/json.ts';
import {
  anyJsonColumn,
  defineRecord,
  integerColumn,
  jsonColumn,
  nullableColumn,
  sealedColumn,
  textColumn,
} from './record.ts';

/** The value of an `Idempotency-Key` header: 1 to 255 visible ASCII characters (RFC 9110, 5.5), compared exactly. */
export const idempotencyKeySchema = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters');

/**
 * How long a key is remembered after its first use, in milliseconds. It is kept longer while its transaction is open.
 */
export const IDEMPOTENCY_KEEP_MS = 24 * 3_600_000;

/** A request that its client may repeat. A repeat has the same scope, key and fingerprint. */
export interface KeyedRequest {
  /** The id of the caller's API key. */
  readonly scope: string;
  readonly key: string;
  /** A hash of the request. */
  readonly fingerprint: string;
}

/** The right to run a keyed request. All runs of the request have the same `id`; `token` rises with each run. */
export interface IdempotencyClaim {
  readonly id: string;
  readonly token: number;
}

/** An answer as it was sent; `body` is null when it was too large to be kept. */
export interface StoredAnswer {
  readonly status: number;
  readonly body: string | null;
}

/** Identifies one effect among the effects of a keyed request. */
export interface KeyedEffectName {
  /** A hash of what the effect is. */
  readonly payloadHash: string;
  /** Counts the effects of one run that have the same payload, from 0. */
  readonly occurrence: number;
}

/** An effect as it is stored. `outcome` and `failure` are null while the result is unknown. */
export const effectRecord = defineRecord(
  'effects',
  {
    claimId: textColumn,
    payloadHash: textColumn,
    occurrence: integerColumn,
    /** The transaction that the effect made, or is about. */
    transactionId: nullableColumn(textColumn),
    outcome: nullableColumn(anyJsonColumn),
    /** The refusal that the run got when it asked for the effect. */
    failure: nullableColumn(anyJsonColumn),
  },
  { key: ['claimId', 'payloadHash', 'occurrence'] },
);

const deliverySchema = z.strictObject({
  /** The number of the request that it answers. */
  request: z.int(),
  method: z.string(),
  /** A hash of method and payload. */
  hash: z.string(),
  /** The time that the guest reads from here on. */
  at: z.int(),
  /** The answer, as the guest got it. */
  reply: z.custom<Json>(() => true),
  /** What was asked, for a reader of the record. */
  payload: z.custom<Json>(() => true).exactOptional(),
});

/** One answer that a run of a call heard. */
export type Delivery = z.infer<typeof deliverySchema>;

const startSchema = z.strictObject({
  /** Of the guest's chance: 64 hex digits. */
  seed: z.string(),
  /** The time at which the guest began. */
  now: z.int(),
  version: z.string(),
  /** JSON text of the context. */
  context: z.string(),
});

/** With what all runs of a call begin. */
export type CallStart = z.infer<typeof startSchema>;

const pageSchema = z.strictObject({
  start: startSchema.exactOptional(),
  deliveries: z.array(deliverySchema),
  /** Requests that waited for their answers then, and since when. */
  waits: z.array(z.tuple([z.int(), z.int()])).exactOptional(),
});

/** A part of a call's journal: the answers from one place on. The first one has the start of the call. */
export type JournalPage = z.infer<typeof pageSchema>;

/**
 * The journal of a keyed request that runs a plugin. Pages of one run may overlap; then they say the same. A page is
 * written in the commit of the effect that it leads to, and of the call's end.
 */
export const journalRecord = defineRecord(
  'call_journal',
  {
    claimId: textColumn,
    /** The place of its first answer, from 0. */
    position: integerColumn,
    page: sealedColumn(jsonColumn(pageSchema)),
  },
  { key: ['claimId', 'position'] },
);

/** A page and its place. */
export interface JournalEntry {
  position: number;
  page: JournalPage;
}

/** The pages of a journal, put together; undefined when there are none. */
export function journalOf(entries: readonly JournalEntry[]):
  | {
      start: CallStart;
      deliveries: Delivery[];
      waits: readonly (readonly [request: number, since: number])[];
    }
  | undefined {
  const start = entries[0]?.page.start;
  if (start === undefined) return undefined;
  const deliveries: Delivery[] = [];
  for (const { position, page } of entries) {
    for (const [at, delivery] of page.deliveries.entries()) deliveries[position + at] = delivery;
  }
  return { start, deliveries, waits: entries.at(-1)?.page.waits ?? [] };
}

/**
 * One effect that a run of a keyed request asks for. Its name is unique under the claim, and is stored in the commit of
 * the effect. So the effect happens once, however often the request runs and in whatever order it asks.
 */
export interface KeyedEffect extends KeyedEffectName {
  /** The claim of the run. A run whose claim was taken over has no effect any more. */
  readonly claim: IdempotencyClaim;
  /**
   * True in a plugin call: the outcome of the effect, even a refusal, decides what the call does next. False for a
   * request that is nothing but its one effect: it may be tried again after a refusal.
   */
  readonly isStep: boolean;
  /** What the run had heard when it asked for the effect. It is stored in the same commit as the effect. */
  readonly journal?: JournalEntry | undefined;
}
