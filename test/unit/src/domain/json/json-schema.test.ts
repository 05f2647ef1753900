import t from 'tap';
import { z } from 'zod';
import { amountSchema } from '../../../../../src/domain/amount.ts';
import { jsonSchemas } from '../../../../../src/domain/json/json-schema.ts';

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
