import { z } from 'zod';
import { amountOf, amountUpTo, type JsonAmount } from '../domain/amount.ts';
import { isCronSchedule } from '../domain/cron-schedule.ts';
import { strictObjectSchema } from '../domain/json/issue-text.ts';
import { type Json, type JsonObject, memoizePerObject, type WireObject, type WireValue } from '../domain/json/json.ts';

/**
 * One field of a family's policies. From its declaration derive the schemas of the configuration and the API, the
 * description, the types, the view, and what it forbids.
 */
export interface PolicyField<Schema extends z.ZodType, Value, Checks> {
  /** Of what clients write and the store keeps, with the description. */
  schema: Schema;
  /** The value that the family works with. */
  read(stored: z.output<Schema>): Value;
  /** The value that answers show; undefined: they leave it out. */
  show(stored: z.output<Schema>): WireValue;
  /** What the field forbids, by what is checked: the reason, or undefined where it forbids nothing. */
  forbids: { readonly [Subject in keyof Checks]?: (value: Value, subject: Checks[Subject]) => string | undefined };
}

/** Fields by their names, in the order in which answers show them. */
type PolicyFields = Readonly<
  Record<string, { schema: z.ZodType; read(stored: never): unknown; show(stored: never): WireValue; forbids: object }>
>;

type ShapeOf<F extends PolicyFields> = { [Name in keyof F]: F[Name]['schema'] };

/** Policies in the form that clients write and the store keeps. */
export type StoredFields<F extends PolicyFields> = z.output<z.ZodObject<ShapeOf<F>, z.core.$strict>>;

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** Policies as the family works with them: `max_fee` as `maxFee`. */
export type PolicyValues<F extends PolicyFields> = {
  readonly [Name in keyof F as CamelCase<Name & string>]: ReturnType<F[Name]['read']>;
};

interface FieldOptions<Stored, Value, Unset, Checks> {
  /** Absent: the family works with the stored form. */
  read?(stored: Stored): Value;
  /** The value where the policies do not set it. Absent: null. */
  unset?: Unset;
  /** Whether answers show the value of an unset field. */
  isAlwaysShown?: boolean;
  /** Absent: answers show the stored form. */
  show?(stored: Stored): WireValue;
  /** {@link PolicyField.forbids}. */
  forbids?: {
    readonly [Subject in keyof Checks]?: (
      value: NoInfer<Value | Unset>,
      subject: Checks[Subject],
    ) => string | undefined;
  };
}

/** What a policy forbids, and why. */
export interface PolicyFault {
  policy: string;
  reason: string;
}

/**
 * The tools for declaring a family's policies.
 * @typeParam Checks the subjects that the family checks, by their names, each with what is known of it
 */
export function policyKit<Checks extends object>() {
  /** A field. Null and nothing mean that it is unset. */
  function field<Stored, Value = Stored, const Unset = null>(
    schema: z.ZodType<Stored>,
    text: string,
    options: FieldOptions<Stored, Value, Unset, Checks> = {},
  ): PolicyField<z.ZodType<Stored | null | undefined>, NoInfer<Value | Unset>, Checks> {
    const { read = (stored) => stored as unknown as Value, show = (stored) => stored as WireValue } = options;
    const unset = (options.unset ?? null) as Unset;
    return {
      schema: schema.nullish().describe(text),
      read: (stored) => (stored === null || stored === undefined ? unset : read(stored)),
      show(stored) {
        if (stored !== null && stored !== undefined) return show(stored);
        return options.isAlwaysShown === true ? (unset as WireValue) : undefined;
      },
      forbids: options.forbids ?? {},
    };
  }

  /** A whole number. The family works with a bigint, and answers show all digits. */
  function amount<Value = bigint, const Unset = null>(
    schema: z.ZodType<JsonAmount>,
    text: string,
    { read, ...options }: Omit<FieldOptions<bigint, Value, Unset, Checks>, 'show'> = {},
  ): PolicyField<z.ZodType<JsonAmount | null | undefined>, NoInfer<Value | Unset>, Checks> {
    return field<JsonAmount, Value, Unset>(schema, text, {
      ...options,
      read: (stored) => (read === undefined ? (amountOf(stored) as Value) : read(amountOf(stored))),
      show: amountOf,
    });
  }

  /**
   * A family's policies.
   * @param rules adds what must hold between fields
   */
  function policies<const F extends PolicyFields>(
    fields: F,
    rules: (schema: z.ZodObject<ShapeOf<F>, z.core.$strict>) => z.ZodType<StoredFields<F>> = (schema) => schema,
  ) {
    const { schema, show } = fieldGroup(fields);
    const ruled = rules(schema);
    const declared = Object.entries(fields as unknown as Record<string, PolicyField<z.ZodType, unknown, Checks>>).map(
      ([name, one]) => ({ ...one, name, key: camelCase(name) }),
    );
    return {
      /** Policies with all fields set that have a value. */
      schema: ruled.transform((stored): JsonObject => withoutNulls(stored)),
      read: memoizePerObject((stored: JsonObject) => {
        const parsed = ruled.parse(stored) as Readonly<Record<string, unknown>>;
        return Object.fromEntries(declared.map(({ name, key, read }) => [key, read(parsed[name])])) as PolicyValues<F>;
      }),
      /** Policies as the API shows them: defaults filled in, integers with all digits. Nothing when none is set. */
      view: (stored: JsonObject): WireObject | undefined =>
        Object.keys(stored).length === 0 ? undefined : withoutUndefined(show(ruled.parse(stored))),
      /** The first thing that the policies forbid of these subjects; subjects come before fields. */
      fault(values: PolicyValues<F>, subjects: Partial<Checks>): PolicyFault | undefined {
        for (const subject of Object.keys(subjects) as (keyof Checks)[]) {
          for (const { name, key, forbids } of declared) {
            const value = (values as Readonly<Record<string, unknown>>)[key];
            const reason = forbids[subject]?.(value, subjects[subject] as Checks[keyof Checks]);
            if (reason !== undefined) return { policy: name, reason };
          }
        }
        return undefined;
      },
    };
  }

  return { field, amount, policies };
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Fields inside a field. `show` names those that are unset too. */
export function fieldGroup<const F extends PolicyFields>(
  fields: F,
): { schema: z.ZodObject<ShapeOf<F>, z.core.$strict>; show(stored: StoredFields<F>): WireObject } {
  const entries = Object.entries(fields);
  const shape = Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])) as ShapeOf<F>;
  return {
    schema: strictObjectSchema(shape),
    show: (stored) =>
      Object.fromEntries(entries.map(([name, { show }]) => [name, show(stored[name as keyof typeof stored] as never)])),
  };
}

/** A field inside another that has to be given. */
export function required<Stored extends WireValue>(
  schema: z.ZodType<Stored>,
  text: string,
): PolicyField<z.ZodType<Stored>, Stored, object> {
  return { schema: schema.describe(text), read: (stored) => stored, show: (stored) => stored, forbids: {} };
}

const { field, amount } = policyKit<object>();

/** A whole number of the seed's format `int32`, not negative. */
export const int32 = z.int().min(0).max(2_147_483_647);

/** A whole number of the seed's format `int64`, not negative. */
export const int64 = amountUpTo((1n << 63n) - 1n).meta({ type: 'integer', format: 'int64', minimum: 0 });

/** A whole number of 64 bits without a sign, as in the reference. For fields that the seed does not show. */
export const uint64 = amountUpTo((1n << 64n) - 1n).meta({ type: 'integer', format: 'uint64', minimum: 0 });

/** Who pays the fees of a relayer's transactions. */
export const feePaymentStrategySchema = z.enum(['user', 'relayer']);

/** The margin on top of an estimated fee, in percent. */
export const feeMarginSchema = z.float32().min(0, 'Negative fee margin percentage values are not accepted');

const SLIPPAGE_BOUNDS = 'Slippage percentage must be between 0 and 100';

/** By how much a price may have moved, in percent. */
export const slippageSchema = z.float32().min(0, SLIPPAGE_BOUNDS).max(100, SLIPPAGE_BOUNDS);

/** When tokens are swapped for the chain's coin. */
export const cronScheduleSchema = z
  .string()
  .min(1, 'Empty cron schedule is not accepted')
  .refine((text) => text === '' || isCronSchedule(text), 'Invalid cron schedule format');

/** The error for swaps of a relayer whose own account pays the fees. */
export const SWAP_NEEDS_USER_FEES = 'Swap config only supported for user fee payment strategy';

/** How one allowed token is swapped. */
export const tokenSwap = fieldGroup({
  slippage_percentage: field(
    slippageSchema,
    'Maximum price slippage, in percent. Default: that of the policies, else 1',
  ),
  min_amount: amount(uint64, 'Minimum amount of one swap, in the smallest unit of the token. Default: 0'),
  max_amount: amount(uint64, 'Maximum amount of one swap, in the smallest unit of the token. Default: no limit'),
  retain_min_amount: amount(uint64, 'Amount that is never swapped, in the smallest unit of the token. Default: 0'),
});

/** The settings of a swap in answers, where unset fields are null. */
export function withUnsetAsNull(view: WireObject): WireObject {
  return Object.fromEntries(Object.entries(view).map(([name, value]) => [name, value ?? null]));
}

/** The swaps of one allowed token, in its smallest unit: the least and the most of one swap, and what is never swapped. */
export interface SwapAmounts {
  least: bigint;
  most: bigint | null;
  retained: bigint;
}

export function readSwapAmounts(swap: z.output<typeof tokenSwap.schema> | null | undefined): SwapAmounts {
  return {
    least: amountOf(swap?.min_amount ?? 0),
    most: amountOrNull(swap?.max_amount),
    retained: amountOf(swap?.retain_min_amount ?? 0),
  };
}

/**
 * How much of a holding is swapped: at most `most`, never the retained part, and zero rather than less than `least`.
 */
export function amountToSwap(held: bigint, { least, most, retained }: SwapAmounts): bigint {
  const free = held > retained ? held - retained : 0n;
  const given = most !== null && most < free ? most : free;
  return given < least ? 0n : given;
}

export function amountOrNull(amount: JsonAmount | null | undefined): bigint | null {
  return amount === null || amount === undefined ? null : amountOf(amount);
}

/** The fields that have a value, as answers show them. */
export function withoutUndefined(view: WireObject): WireObject {
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== undefined));
}

/** Policies without what is null at any depth, since null means unset. */
export function withoutNulls(policies: Readonly<Record<string, unknown>>): JsonObject {
  const set = Object.entries(policies).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(set.map(([key, value]) => [key, setParts(value)]));
}

function setParts(value: unknown): Json {
  if (Array.isArray(value)) return value.map(setParts);
  return typeof value === 'object' && value !== null
    ? withoutNulls(value as Readonly<Record<string, unknown>>)
    : (value as Json);
}
