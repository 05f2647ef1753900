import { fc } from './properties.ts';

/** A schema of the API's description: JSON Schema 2020-12, as far as the description uses it. */
export interface DescribedSchema {
  $ref?: string;
  anyOf?: DescribedSchema[];
  oneOf?: DescribedSchema[];
  const?: unknown;
  enum?: unknown[];
  type?: string | string[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: DescribedSchema;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, DescribedSchema>;
  required?: string[];
  additionalProperties?: boolean | DescribedSchema;
  propertyNames?: DescribedSchema;
  minProperties?: number;
  maxProperties?: number;
}

export interface ArbitraryOptions {
  /** The named schemas of the description. */
  schemas: Readonly<Record<string, DescribedSchema>>;
  /** Which of the named alternatives fit; for instance those of one chain family. Absent: all. */
  fits?: (name: string) => boolean;
  /** Texts that mean something to the service, such as ids. They are tried where a schema allows them. */
  texts?: readonly string[];
}

/** How long a list or text without an upper bound becomes. */
const MAX_UNBOUNDED = 6;
const REFERENCE = '#/components/schemas/';

/**
 * Values that a schema allows, with its edges more often than by chance. Integers that no JavaScript number holds are
 * bigints.
 * @throws for a schema whose meaning is not known here, so that nothing is left out unseen
 */
export function arbitraryOf(schema: DescribedSchema, options: ArbitraryOptions): fc.Arbitrary<unknown> {
  const of = (inner: DescribedSchema) => arbitraryOf(inner, options);
  const { $ref, anyOf, oneOf, type, ...rest } = schema;
  if ($ref !== undefined) {
    const named = options.schemas[$ref.slice(REFERENCE.length)];
    if (named === undefined) throw new Error(`no schema ${$ref}`);
    return of(named);
  }
  const alternatives = anyOf ?? oneOf;
  if (alternatives !== undefined) {
    const unknown = Object.keys(rest).filter((key) => !['description', 'default', 'examples'].includes(key));
    if (type !== undefined || unknown.length > 0) throw new Error(`beside alternatives: ${JSON.stringify(schema)}`);
    const fitting = alternatives.filter((one) => options.fits?.(one.$ref?.slice(REFERENCE.length) ?? '') ?? true);
    return fc.oneof(...(fitting.length === 0 ? alternatives : fitting).map(of));
  }
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => of({ ...schema, type: one })));
  switch (type) {
    case undefined:
      return fc.jsonValue({ maxDepth: 2 });
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return integers(schema);
    case 'number': {
      // A whole number beyond 2^53 is an amount to the service, and not a plain number.
      const [min, max] = [schema.minimum ?? -1e9, Math.min(schema.maximum ?? 1e9, Number.MAX_SAFE_INTEGER)];
      return fc.oneof(integers({ minimum: min, maximum: max }), fc.double({ min, max, noNaN: true }));
    }
    case 'string':
      return texts(schema, options.texts ?? []);
    case 'array': {
      const minLength = schema.minItems ?? 0;
      const maxLength = Math.min(schema.maxItems ?? Infinity, minLength + MAX_UNBOUNDED);
      return fc.array(of(schema.items ?? {}), { minLength, maxLength, size: 'max' });
    }
    case 'object':
      return objects(schema, of);
    default:
      throw new Error(`no values for ${JSON.stringify(schema)}`);
  }
}

/** The upper bounds that formats state; JSON Schema's own `maximum` cannot hold them. */
const FORMATS: Readonly<Record<string, bigint>> = { int64: 2n ** 63n - 1n, uint64: 2n ** 64n - 1n };

function integers({
  minimum = -(2 ** 63),
  maximum = 2 ** 70,
  format = '',
}: DescribedSchema): fc.Arbitrary<number | bigint> {
  const [min, max] = [BigInt(minimum), FORMATS[format] ?? BigInt(maximum)];
  const edges = [min, max, 0n, 1n, 2n ** 53n, 2n ** 64n].filter((edge) => edge >= min && edge <= max);
  const any = fc.oneof(
    fc.constantFrom(...edges),
    fc.bigInt({ min, max }),
    fc.bigInt({ min, max: max < min + 9n ? max : min + 9n }),
  );
  return any.map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value));
}

function texts(schema: DescribedSchema, known: readonly string[]): fc.Arbitrary<string> {
  const { pattern, format, minLength = 0, maxLength = minLength + 40 } = schema;
  if (format === 'date-time')
    return fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date('2099-01-01') })
      .map((date) => date.toISOString());
  if (format === 'uri') return fc.webUrl({ validSchemes: ['http', 'https'] });
  if (pattern !== undefined) {
    const matching = fc.stringMatching(new RegExp(pattern));
    const fitting = known.filter((text) => new RegExp(pattern).test(text));
    return fitting.length === 0 ? matching : fc.oneof(matching, fc.constantFrom(...fitting));
  }
  const any = fc.oneof(
    fc.string({ minLength, maxLength, size: 'max' }),
    fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 3), unit: 'binary' }),
    fc.constantFrom('x'.repeat(minLength), '0'.repeat(Math.min(maxLength, 20_000))),
  );
  const fitting = known.filter((text) => text.length >= minLength && text.length <= (schema.maxLength ?? Infinity));
  return fitting.length === 0 ? any : fc.oneof(any, fc.constantFrom(...fitting));
}

function objects(
  schema: DescribedSchema,
  of: (schema: DescribedSchema) => fc.Arbitrary<unknown>,
): fc.Arbitrary<object> {
  const { properties = {}, required = [], additionalProperties: others, propertyNames } = schema;
  const optional = Object.keys(properties).filter((key) => !required.includes(key));
  // Few optional fields at a time, since many exclude each other.
  const some = fc.oneof(
    fc.constant([]),
    fc.shuffledSubarray(optional, { maxLength: Math.min(2, optional.length) }),
    fc.shuffledSubarray(optional),
  );
  const described = some.chain((keys) =>
    fc.record(Object.fromEntries([...required, ...keys].map((key) => [key, of(properties[key] ?? {})]))),
  );
  const isClosed = others === false || (others === undefined && Object.keys(properties).length > 0);
  if (isClosed) return described.filter((value) => Object.keys(value).length >= (schema.minProperties ?? 0));
  const names = propertyNames === undefined ? fc.string({ maxLength: 10 }) : of(propertyNames).map(String);
  const minKeys = Math.max(0, (schema.minProperties ?? 0) - required.length);
  const more = fc.dictionary(names, of(typeof others === 'object' ? others : {}), {
    minKeys,
    maxKeys: Math.min(schema.maxProperties ?? Infinity, minKeys + 3),
  });
  return fc.tuple(more, described).map(([extra, own]) => ({ ...extra, ...own }));
}
