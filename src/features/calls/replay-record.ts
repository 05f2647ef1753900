import { z } from 'zod';
import type { CallStart, Delivery } from '../../domain/idempotency.ts';
import type { Json } from '../../domain/json/json.ts';
import type { CallEnding } from './record.ts';

const json = z.custom<Json>((value) => value !== undefined, 'missing');

const errorSchema = z.strictObject({
  code: z.string(),
  message: z.string(),
  status: z.int(),
  details: json.exactOptional(),
});

const answerSchema = z.discriminatedUnion('ok', [
  z.strictObject({ ok: z.literal(true), value: json }),
  z.strictObject({
    ok: z.literal(false),
    error: z.strictObject({
      message: z.string(),
      code: z.string().exactOptional(),
      status: z.number().exactOptional(),
      details: json.exactOptional(),
    }),
  }),
]);

const recordedDeliverySchema = z.strictObject({
  /** The number of the request. Numbers rise in the order in which the plugin asked, with gaps. */
  request: z.int(),
  method: z.string(),
  /** What was asked. Absent when it was too long to be kept. */
  payload: json.exactOptional(),
  /** A hash of method and payload. Absent when the payload had a secret. */
  hash: z.string().exactOptional(),
  /** The time that the plugin reads from here on, in milliseconds since the epoch. */
  at: z.int(),
  answer: answerSchema,
});

/** What a call was given, all that it heard, in order, and how it ended. Whoever has it can run the call again. */
export const replayRecordSchema = z.strictObject({
  format: z.literal(1),
  plugin: z.string(),
  version: z.string(),
  /** Of the call's chance: 64 hex digits. */
  seed: z.string().regex(/^[0-9a-f]{64}$/),
  /** When the call began, in milliseconds since the epoch. */
  now: z.int(),
  context: json,
  deliveries: z.array(recordedDeliverySchema),
  /** Null: the call had not ended. */
  outcome: z.union([z.strictObject({ returned: json }), z.strictObject({ error: errorSchema })]).nullable(),
});

export type ReplayRecord = z.infer<typeof replayRecordSchema>;

/** What a record has the names of: the environment entries that a plugin was granted, and the texts of its settings. */
export type Secrets = Readonly<Record<string, string>>;

/** The texts in the settings of a plugin, by their places: `config.url`. */
export function configTexts(config: Json | undefined, place = 'config'): Secrets {
  if (typeof config === 'string') return { [place]: config };
  if (typeof config !== 'object' || config === null) return {};
  const inner = Object.entries(config).map(([key, value]) => configTexts(value, `${place}.${key}`));
  return Object.assign({}, ...inner);
}

/** A shorter value may be part of any text. */
const MIN_SECRET = 6;

/** Makes the record of a call as it leaves the service: without its secrets. */
export function replayRecordOf(
  plugin: string,
  { version, seed, now, context }: CallStart,
  deliveries: readonly Delivery[],
  ending: CallEnding | null,
  secrets: Secrets,
): ReplayRecord {
  const record: ReplayRecord = {
    format: 1,
    plugin,
    version,
    seed,
    now,
    context: redactSecrets(JSON.parse(context) as Json, secrets),
    deliveries: deliveries.map(({ request, method, hash, at, reply, payload }) => {
      const shown = payload === undefined ? undefined : redactSecrets(payload, secrets);
      const hasSecret = JSON.stringify(shown) !== JSON.stringify(payload);
      return {
        request,
        method,
        ...(shown === undefined ? {} : { payload: shown }),
        // A short secret could be guessed from the hash.
        ...(hasSecret ? {} : { hash }),
        at,
        answer: redactSecrets(reply, secrets) as z.infer<typeof answerSchema>,
      };
    }),
    outcome: ending === null ? null : (redactSecrets(shownEnding(ending), secrets) as ReplayRecord['outcome']),
  };
  return replayRecordSchema.parse(record);
}

function shownEnding(ending: CallEnding): Json {
  if ('returned' in ending) return { returned: JSON.parse(ending.returned) as Json };
  const { details, ...error } = ending.error;
  return { error: { ...error, ...(details === undefined ? {} : { details: JSON.parse(details) as Json }) } };
}

/** Replaces each secret in each text by its name: `<secret NAME>`. */
export function redactSecrets(value: Json, secrets: Secrets): Json {
  const wanted = Object.entries(secrets).filter(([, secret]) => secret.length >= MIN_SECRET);
  // The longest first: a secret may be part of another one.
  wanted.sort(([, a], [, b]) => b.length - a.length);
  return replacedIn(
    value,
    wanted.map(([name, secret]) => [secret, placeholder(name)]),
  );
}

/** Puts the secrets of this environment where a record has their names. */
export function restoreSecrets(value: Json, secrets: Secrets): Json {
  return replacedIn(
    value,
    Object.entries(secrets).map(([name, secret]) => [placeholder(name), secret]),
  );
}

function placeholder(name: string): string {
  return `<secret ${name}>`;
}

function replacedIn(value: Json, pairs: readonly (readonly [from: string, to: string])[]): Json {
  if (pairs.length === 0) return value;
  const replaced = (text: string) => pairs.reduce((left, [from, to]) => left.replaceAll(from, () => to), text);
  const within = (one: Json): Json => {
    if (typeof one === 'string') return replaced(one);
    if (Array.isArray(one)) return one.map(within);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, item]) => [replaced(key), within(item)]));
  };
  return within(value);
}
