import t from 'tap';
import { z } from 'zod';
import { amountSchema } from '../../../../../src/domain/amount.ts';
import {
  didYouMean,
  nearestName,
  strictObjectSchema,
  unknownFieldsText,
} from '../../../../../src/domain/json/issue-text.ts';
import { jsonSchemas } from '../../../../../src/domain/json/json-schema.ts';

t.test('no fault is told in the words of a library', (t) => {
  const cases: [z.ZodType, unknown, string][] = [
    [z.string(), undefined, 'missing: expected a string'],
    [z.string(), 5, 'expected a string, not a number'],
    [z.int(), 1.5, 'expected an integer, not a number'],
    [z.number(), Number.NaN, 'expected a number, not NaN'],
    [z.array(z.string()), {}, 'expected a list, not an object'],
    [z.strictObject({}), null, 'expected an object, not null'],
    [z.strictObject({ a: z.string() }), { a: '', b: 1 }, 'unknown field `b`'],
    [z.enum(['a', 'b']), 'c', 'expected one of a, b'],
    [z.literal(1), 2, 'expected 1'],
    [z.string().min(1), '', 'must not be empty'],
    [z.array(z.string()).min(1), [], 'must not be empty'],
    [z.string().min(2), 'a', 'expected at least 2 characters'],
    [z.string().max(1), 'ab', 'expected at most 1 character'],
    [z.string().length(2), 'a', 'expected exactly 2 characters'],
    [z.array(z.string()).max(2), ['', '', ''], 'expected at most 2 entries'],
    [z.number().positive(), 0, 'expected more than 0'],
    [z.number().max(3), 4, 'expected at most 3'],
    [z.number().lt(3), 3, 'expected less than 3'],
    [z.number().multipleOf(5), 4, 'expected a multiple of 5'],
    [z.url(), 'x', 'expected a URL'],
    [z.iso.date(), 'x', 'expected a date such as 2026-01-31'],
    [z.string().regex(/^x/), 'y', 'expected text of the form /^x/'],
    [z.string().startsWith('0x'), 'y', 'expected text that begins with 0x'],
    [z.union([z.string(), z.number()]), null, 'expected another form'],
    [z.string('has words of its own'), 5, 'has words of its own'],
  ];
  for (const [schema, value, text] of cases) {
    t.strictSame(
      schema.safeParse(value).error?.issues.map(({ message }) => message),
      [text],
      text,
    );
  }
  t.end();
});

t.test('a slip finds the name that was meant', (t) => {
  const known = ['paused', 'policies', 'signer_id', 'name'];
  t.equal(nearestName('pausd', known), 'paused');
  t.equal(nearestName('signerId', known), 'signer_id');
  t.equal(nearestName('POLICIES', known), 'policies');
  t.equal(nearestName('nam', known), 'name');
  t.equal(nearestName('nmae', known), 'name', 'two letters exchanged');
  t.equal(nearestName('p'.repeat(1_000_000), known), undefined, 'and takes no time');
  t.equal(nearestName('policy', known), 'policies', 'a form of it');
  t.equal(nearestName('memory', ['kv_bytes', 'memory_mb']), 'memory_mb');
  t.equal(nearestName('pol', known), undefined, 'too short to be one');
  t.equal(didYouMean('polices', known), 'Did you mean "policies"?');
  t.end();
});

t.test('another word finds nothing', (t) => {
  for (const name of ['colour', 'x', '', 'relayers_and_more'])
    t.equal(nearestName(name, ['paused', 'policies']), undefined, name);
  t.equal(didYouMean('colour', []), undefined);
  t.end();
});

t.test('unknown field', async (t) => {
  const any = z.unknown().optional();
  const saidOf = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues[0]?.message;

  t.test('an unknown key is named with the nearest known one, else beside all that are known', async (t) => {
    t.equal(saidOf(strictObjectSchema({ a: any }), { a: 1, xyz: 1 }), 'unknown field `xyz`, expected `a`');
    t.equal(
      saidOf(strictObjectSchema({ a: any, b: any }), { a: 1, b: 1, xy: 1 }),
      'unknown field `xy`, expected `a` or `b`',
    );
    const limits = strictObjectSchema({ gas_limit: any, gas_price: any, speed: any });
    t.equal(saidOf(limits, { gasLimit: 1 }), 'unknown field `gasLimit`, did you mean `gas_limit`?');
    t.equal(saidOf(limits, { colour: 1 }), 'unknown field `colour`, expected one of `gas_limit`, `gas_price`, `speed`');
    t.equal(
      saidOf(limits, { colour: 1, sped: 1, taste: 1 }),
      'unknown field `colour`; unknown field `sped`, did you mean `speed`?; ' +
        'unknown field `taste`, expected one of `gas_limit`, `gas_price`, `speed`',
    );
    t.equal(saidOf(strictObjectSchema({}), { x: 1 }), 'unknown field `x`');
    t.match(saidOf(limits, []), /expected an object/);
  });

  t.test('what is well known elsewhere has its own advice', async (t) => {
    const form = strictObjectSchema({ gas_limit: any }, new Map([['gas', 'it is called gas_limit']]));
    t.equal(saidOf(form, { gas: 1 }), 'unknown field `gas`: it is called gas_limit');
  });

  t.test('many and long keys are named in part', async (t) => {
    const keys = Array.from({ length: 100_000 }, (_, index) => `${index}`.padEnd(100, 'k'));
    const said = saidOf(strictObjectSchema({ a: any }), Object.fromEntries(keys.map((key) => [key, 1]))) ?? '';
    t.equal(said.split('; ').length, 20);
    t.ok(said.length < 20 * 120);
  });

  t.test('it has nothing to say of another fault', async (t) => {
    const { error } = z.strictObject({ a: z.string() }).safeParse({}, { error: (issue) => unknownFieldsText(issue) });
    t.match(error?.issues[0]?.message, /expected a string/);
  });
});

t.test('json schema', async (t) => {
  const refer = (name: string) => `#/${name}`;

  t.test('a named schema inside another is referred to', (t) => {
    const inner = z.object({ x: z.string() });
    const outer = z.strictObject({ one: inner, many: z.array(inner) });
    t.strictSame(jsonSchemas({ Inner: inner, Outer: outer }, 'input', refer)['Outer'], {
      type: 'object',
      properties: { one: { $ref: '#/Inner' }, many: { type: 'array', items: { $ref: '#/Inner' } } },
      required: ['one', 'many'],
      additionalProperties: false,
    });
    t.end();
  });

  t.test('input is what may be sent, output what comes out', (t) => {
    const count = z.object({ count: z.string().transform(Number).pipe(z.number()).default(1) });
    t.match(jsonSchemas({ count }, 'input', refer)['count'], { properties: { count: { type: 'string' } } });
    t.match(jsonSchemas({ count }, 'output', refer)['count'], { properties: { count: { type: 'number' } } });
    t.end();
  });

  t.test('a pipe that takes anything shows what it looks for', (t) => {
    const entry = z.strictObject({ url: z.string() });
    const body = z.object({ urls: z.array(z.unknown()).max(3).pipe(z.array(entry)), one: z.unknown().pipe(entry) });
    t.match(jsonSchemas({ body }, 'input', refer)['body'], {
      properties: {
        urls: { type: 'array', maxItems: 3, items: { type: 'object', properties: { url: { type: 'string' } } } },
        one: { type: 'object', properties: { url: { type: 'string' } } },
      },
    });
    t.end();
  });

  t.test('an amount is an integer or its digits', (t) => {
    t.strictSame(jsonSchemas({ amount: amountSchema(64) }, 'input', refer)['amount'], {
      anyOf: [
        { type: 'integer', format: 'uint64', minimum: 0 },
        { type: 'string', pattern: '^\\d{1,20}$' },
      ],
    });
    t.end();
  });

  t.test('what may be any JSON is anything', (t) => {
    const { config, ...others } = jsonSchemas({ config: z.record(z.string(), z.json()) }, 'input', refer);
    t.match(config, { type: 'object', additionalProperties: {} });
    t.notMatch(JSON.stringify(config), '$ref');
    t.strictSame(others, {});
    t.end();
  });

  t.test('alternatives that were written by hand stand alone', (t) => {
    const anyOf = [{ type: 'string' as const }, { type: 'object' as const, required: ['a'] }];
    const either = z.preprocess((value) => value, z.object({ a: z.string() })).meta({ anyOf });
    t.strictSame(jsonSchemas({ either }, 'input', refer)['either'], { anyOf });
    t.end();
  });
});
