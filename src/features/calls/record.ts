import { z } from 'zod';
import type { Json } from '../../domain/json/json.ts';
import {
  columnNamed,
  defineRecord,
  enumColumn,
  type FieldsOf,
  integerColumn,
  jsonColumn,
  nullableColumn,
  sealedColumn,
  textColumn,
  timestampColumn,
} from '../../domain/record.ts';

/** The most answers that one durable call hears, and the most bytes of JSON that its journal has. */
export const MAX_STEPS = 10_000;
export const MAX_JOURNAL_BYTES = 1_048_576;
/** The most events that one call may be sent, and the most bytes of JSON of each. */
export const MAX_EVENTS = 1_000;
export const MAX_EVENT_BYTES = 65_536;
/** A call ends when it has brought down this many processes. */
export const MAX_DEATHS = 3;

/** The name of an event that a call may wait for. */
export const eventNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'has 1 to 128 letters, digits, dots, dashes, underscores and colons');

export const callStateSchema = z.enum(['running', 'waiting', 'returned', 'threw', 'canceled', 'expired']);

/**
 * The state of a call. `running`: it runs, or is to run as soon as it can. `waiting`: it holds no isolate until
 * `nextAt`, or until what it waits for has come. The others are ends.
 */
export type CallState = z.infer<typeof callStateSchema>;

export type CallEnd = Exclude<CallState, 'running' | 'waiting'>;

/** What a call waits for while it does not run. `until` is when the wait ends by itself. */
const waitSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('time'), until: z.int() }),
  z.strictObject({ kind: z.literal('event'), name: z.string(), until: z.int() }),
  z.strictObject({
    kind: z.literal('transaction'),
    id: z.string(),
    relayerId: z.string(),
    isFinal: z.boolean(),
    until: z.int(),
  }),
  z.strictObject({
    kind: z.literal('plugin'),
    reason: z.enum(['disabled', 'removed', 'not built']),
    until: z.int(),
  }),
]);

export type CallWait = z.infer<typeof waitSchema>;

/**
 * Of which trigger a call is a firing. `depth` counts the triggers that led to it. `since`: the trigger may have fired
 * from then on, where that is before `at`.
 */
const triggerSchema = z.strictObject({ name: z.string(), at: z.int(), depth: z.int(), since: z.int().optional() });

/** What the handler is called with. The caller's credential is not in it. */
const requestSchema = z.strictObject({
  method: z.enum(['GET', 'POST']),
  route: z.string(),
  params: z.custom<Json>(() => true),
  headers: z.record(z.string(), z.array(z.string())),
  query: z.record(z.string(), z.array(z.string())),
  requestId: z.string(),
  /** The event of a trigger. */
  event: z.custom<Json>(() => true).exactOptional(),
});

const endingSchema = z.union([
  /** The JSON text of what the handler returned. */
  z.strictObject({ returned: z.string() }),
  z.strictObject({
    error: z.strictObject({
      code: z.string(),
      message: z.string(),
      status: z.int(),
      /** JSON text. */
      details: z.string().exactOptional(),
    }),
  }),
]);

/** What a call came to. */
export type CallEnding = z.infer<typeof endingSchema>;

const columns = {
  /** Also the id of its claim, see `idempotency.ts`. */
  id: textColumn,
  pluginId: textColumn,
  /** Who called: an API key, or `trigger:<plugin>/<name>`. */
  keyId: textColumn,
  /** Unique for each caller. */
  key: textColumn,
  fingerprint: textColumn,
  /** The version that runs it; null until its first run. */
  version: nullableColumn(textColumn),
  request: sealedColumn(jsonColumn(requestSchema)),
  state: enumColumn(callStateSchema),
  waitsFor: jsonColumn(z.array(waitSchema)),
  /** When it is to be looked at: when another instance may take it over, or when its wait is over. */
  nextAt: nullableColumn(timestampColumn),
  /** Runs begun so far. */
  tries: integerColumn,
  /** Processes that it brought down. */
  deaths: integerColumn,
  trigger: nullableColumn(jsonColumn(triggerSchema)),
  createdAt: timestampColumn,
  /** When its lifetime is over. */
  expiresAt: timestampColumn,
  endedAt: nullableColumn(timestampColumn),
  ending: nullableColumn(sealedColumn(jsonColumn(endingSchema))),
  /** Rises with each run: the fence. */
  token: integerColumn,
};

/** A durable call. It is kept until some days after its end. */
export const callRecord = defineRecord('calls', columns, { fixed: ['id', 'pluginId', 'keyId', 'key', 'createdAt'] });

export type CallRecord = FieldsOf<typeof columns>;

/** A call as it is accepted. Its key is unique for its caller. */
export type NewCall = Pick<
  CallRecord,
  'id' | 'pluginId' | 'keyId' | 'key' | 'fingerprint' | 'version' | 'request' | 'trigger'
> & {
  /** How long it may last, in milliseconds. */
  lifetimeMs: number;
};

/** Which calls are asked for; an absent field matches any. */
export interface CallFilter {
  state?: CallState | undefined;
}

/** An event that a call was sent. */
export const callEventRecord = defineRecord(
  'call_events',
  {
    callId: textColumn,
    /** Counts the events of the call, from 0. */
    number: integerColumn,
    name: textColumn,
    value: sealedColumn(jsonColumn(z.custom<Json>(() => true))),
    at: timestampColumn,
  },
  { key: ['callId', 'number'] },
);

export interface CallEvent {
  name: string;
  value: Json;
}

/** A version of a plugin, kept as long as a call may need it: what the sandbox loads, as JSON text. */
export const bundleRecord = defineRecord(
  'plugin_bundles',
  {
    id: columnNamed('version', textColumn),
    pluginId: textColumn,
    content: sealedColumn(textColumn),
    usedAt: timestampColumn,
  },
  { key: ['id'] },
);
