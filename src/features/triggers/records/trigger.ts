import { z } from 'zod';
import { amountSchema } from '../../../domain/amount.ts';
import { isTimeZone, parseCrontab } from '../../../domain/cron-schedule.ts';
import { isObject, memoizePerObject } from '../../../domain/json/json.ts';
import { transactionStatusSchema } from '../../transactions/records/transaction-state.ts';

/** The most triggers of one plugin. */
const MAX_TRIGGERS = 100;

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const MAX_EVERY_MS = 31 * UNITS.d;

/** `15m`: a number with s, m, h or d, in milliseconds; undefined for another text, and for more than `mostMs`. */
export function durationOf(text: string, mostMs: number): number | undefined {
  const [, digits, unit] = /^([1-9]\d{0,6})([smhd])$/.exec(text) ?? [];
  const duration = Number(digits) * UNITS[unit as keyof typeof UNITS];
  return duration <= mostMs ? duration : undefined;
}

/** The pause between two calls, in milliseconds; undefined for a trigger without "every". */
export function everyMs({ every }: { every?: string | undefined }): number | undefined {
  return every === undefined ? undefined : durationOf(every, MAX_EVERY_MS);
}

/** `60/h`: a number of firings in a second, minute, hour or day; undefined for another text. */
export function rateOf(text: string): { firings: number; inMs: number } | undefined {
  const [, digits, unit] = /^([1-9]\d{0,5})\/([smhd])$/.exec(text) ?? [];
  return digits === undefined ? undefined : { firings: Number(digits), inMs: UNITS[unit as keyof typeof UNITS] };
}

/** A reference to a secret, as elsewhere in the configuration. */
const secretSchema = z.strictObject({
  type: z.enum(['env', 'plain']).describe('env: value is the name of a variable; plain: value is the secret'),
  value: z.string().min(1, 'must not be empty').describe('Name of the environment variable, or the secret itself'),
});

const relayerIds = z.array(z.string().min(1)).min(1, 'name at least one, or "*" for all');

function cronProblem(text: string): string {
  if (text.startsWith('@')) return 'expected @hourly, @daily, @weekly, @monthly or @yearly, or five fields';
  const { length } = text.trim().split(/\s+/);
  const those = 'minute, hour, day of month, month and weekday';
  if (length === 6) return `has six fields, and crontab has five: ${those}. Leave the seconds out`;
  if (length !== 5) return `expected the five fields of crontab: ${those}`;
  return `expected ${those}, each within its range, and a day that comes`;
}

const fields = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,35}$/, 'a name has 1 to 36 letters, digits, dashes and underscores')
    .describe('Name of the trigger, unique in the plugin'),
  cron: z
    .string()
    .refine((text) => parseCrontab(text) !== undefined, { error: ({ input }) => cronProblem(String(input)) })
    .optional()
    .describe('Times at which to call: the five fields of crontab, or @hourly, @daily, @weekly, @monthly, @yearly'),
  time_zone: z
    .string()
    .refine(isTimeZone, 'expected the IANA name of a time zone, such as Europe/Berlin')
    .optional()
    .describe('Time zone of "cron". Default: UTC'),
  every: z
    .string()
    .refine((every) => everyMs({ every }) !== undefined, 'expected a time such as 30s, 15m, 6h or 1d, at most 31d')
    .optional()
    .describe('Pause between two calls: a number with s, m, h or d'),
  on: z.enum(['transaction', 'balance', 'webhook']).optional().describe('Event at which to call'),
  relayers: relayerIds
    .optional()
    .describe('Relayers whose transactions or balances call the plugin. Default: all that the plugin may use'),
  status: z
    .array(transactionStatusSchema)
    .min(1, 'name at least one')
    .optional()
    .describe('Statuses of a transaction at which to call. Default: confirmed, failed, canceled, expired'),
  own: z
    .boolean()
    .optional()
    .describe('Whether to call also for transactions that the plugin itself sent. Default: false'),
  below: amountSchema(256).optional().describe('Balance below which to call once, in the smallest unit'),
  secret: secretSchema.optional().describe('Secret of the HMAC signature of each webhook'),
  params: z.record(z.string(), z.json()).optional().describe('Parameters of each call. Default: {}'),
  missed: z
    .enum(['latest', 'skip', 'all'])
    .optional()
    .describe(
      'What to do about times that passed while no instance ran. latest: one call for the newest; skip: none; all: ' +
        'one for each that passed in the last 24 hours, at most 100. Default: latest',
    ),
  at_most: z
    .string()
    .refine((text) => rateOf(text) !== undefined, 'expected a number in a second, minute, hour or day, such as 60/h')
    .optional()
    .describe('Maximum number of calls, such as 60/h. Default: no limit'),
});

/** The keys that only some kinds of trigger have. */
const ONLY: Readonly<Record<string, readonly TriggerKind[]>> = {
  time_zone: ['cron'],
  missed: ['cron', 'every'],
  relayers: ['transaction', 'balance'],
  status: ['transaction'],
  own: ['transaction'],
  below: ['balance'],
  secret: ['webhook'],
};

const KINDS = ['cron', 'every', 'transaction', 'balance', 'webhook'] as const;

export type TriggerKind = (typeof KINDS)[number];

/** Checks that run also when single fields are wrong, so that all problems are told at once. */
const ALWAYS = { when: () => true };

/** One trigger of a plugin: when the service calls it by itself. */
export const triggerSchema = fields.superRefine((trigger, context) => {
  if (!isObject(trigger)) return;
  const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
  const [kind, other] = kindsOf(trigger);
  if (kind === undefined) return refuse('on', 'expected one of "cron", "every" and "on"');
  if (other !== undefined)
    refuse(other, `cannot stand beside "${kind}": a trigger has one of "cron", "every" and "on"`);
  const type = trigger.on ?? (kind as TriggerKind);
  for (const [key, kinds] of KINDS.includes(type) ? Object.entries(ONLY) : []) {
    if (Reflect.get(trigger, key) === undefined || kinds.includes(type)) continue;
    refuse(key, `has no meaning here: it is for ${kinds.map(keyText).join(' and ')}`);
  }
  if (trigger.on === 'webhook' && trigger.secret === undefined)
    refuse('secret', 'is missing: who may call the webhook');
  if (trigger.on === 'balance' && trigger.below === undefined)
    refuse('below', 'is missing: the balance at which to call');
}, ALWAYS);

export type Trigger = z.output<typeof triggerSchema>;

/** The triggers of a plugin. */
export const triggersSchema = z
  .array(triggerSchema)
  .max(MAX_TRIGGERS)
  .superRefine((triggers, context) => {
    const names = Array.isArray(triggers) ? triggers.map((one) => (isObject(one) ? one.name : undefined)) : [];
    for (const [index, name] of names.entries()) {
      if (typeof name !== 'string' || names.indexOf(name) === index) continue;
      context.addIssue({ code: 'custom', path: [index, 'name'], message: `"${name}" is the name of another trigger` });
    }
  }, ALWAYS);

export function kindOf(trigger: Trigger): TriggerKind {
  return trigger.on ?? (trigger.cron === undefined ? 'every' : 'cron');
}

const crontabOf = memoizePerObject(({ cron = '', time_zone }: Trigger) => parseCrontab(cron, time_zone));

/**
 * The next moment of a time trigger after `after`, in milliseconds since the epoch; undefined where there is none.
 * Intervals are counted from the epoch, so that all instances and all starts mean the same moments.
 */
export function nextMoment(trigger: Trigger, after: number): number | undefined {
  if (trigger.cron !== undefined) return crontabOf(trigger)?.next(after);
  const pause = everyMs(trigger);
  return pause === undefined ? undefined : (Math.floor(after / pause) + 1) * pause;
}

function kindsOf({ cron, every, on }: z.output<typeof fields>): string[] {
  return Object.entries({ cron, every, on }).flatMap(([key, value]) => (value === undefined ? [] : [key]));
}

function keyText(kind: TriggerKind): string {
  return kind === 'cron' || kind === 'every' ? `"${kind}"` : `"on": "${kind}"`;
}
