import t from 'tap';
import { z } from 'zod';
import { parseRequestForm, readValidUntil } from '../../../../src/chains/request-form.ts';

const schema = z.object({
  text: z.string().max(3),
  count: z.int().min(0).max(9),
  flag: z.boolean(),
  list: z
    .array(z.object({ name: z.string() }))
    .min(1)
    .max(2),
  only: z.literal('a'),
  either: z.union([z.string(), z.number()]),
  own: z.string('in its own words'),
  date: z.string().regex(/^x/),
});
const GOOD = { text: 'a', count: 1, flag: true, list: [{ name: 'n' }], only: 'a', either: 1, own: 'o', date: 'x' };

t.test('a body of the form is taken apart', async (t) => {
  t.strictSame(parseRequestForm(schema, { ...GOOD, more: 1 }), GOOD);
});

t.test('the first fault is named with its place, in the words of this service', async (t) => {
  const { text: _, ...textless } = GOOD;
  for (const [body, said] of [
    [5, 'expected an object, not a number'],
    [[], 'expected an object, not a list'],
    [textless, 'missing field `text`'],
    [{ ...GOOD, text: 7 }, 'invalid `text`: expected a string, not a number'],
    [{ ...GOOD, text: undefined }, 'invalid `text`: missing: expected a string'],
    [{ ...GOOD, text: 'long' }, 'invalid `text`: expected at most 3 characters'],
    [{ ...GOOD, count: 'x' }, 'invalid `count`: expected a number, not a string'],
    [{ ...GOOD, count: 1.5 }, 'invalid `count`: expected an integer, not a number'],
    [{ ...GOOD, count: -1 }, 'invalid `count`: expected at least 0'],
    [{ ...GOOD, count: 10 }, 'invalid `count`: expected at most 9'],
    [{ ...GOOD, flag: null }, 'invalid `flag`: expected a boolean, not null'],
    [{ ...GOOD, list: [] }, 'invalid `list`: must not be empty'],
    [{ ...GOOD, list: {} }, 'invalid `list`: expected a list, not an object'],
    [{ ...GOOD, list: [{}] }, 'missing field `list.0.name`'],
    [{ ...GOOD, list: [null] }, 'invalid `list.0`: expected an object, not null'],
    [{ ...GOOD, only: 'b' }, 'invalid `only`: expected a'],
    [{ ...GOOD, either: true }, 'invalid `either`: expected another form'],
    [{ ...GOOD, own: 1 }, 'invalid `own`: in its own words'],
    [{ ...GOOD, date: 'y' }, 'invalid `date`: expected text of the form /^x/'],
  ] as const) {
    t.throws(() => parseRequestForm(schema, body), { code: 'INVALID_REQUEST', status: 400, message: said });
  }
});

t.test('valid until', async (t) => {
  const NOW = Date.parse('2026-01-01T00:00:00Z');

  t.test('moments to come, with their offsets', async (t) => {
    for (const [text, at] of [
      ['2026-01-01T00:00:00.001Z', NOW + 1],
      ['2026-01-01t01:00:00.5+01:00', NOW + 500],
      ['2026-01-01 00:00:01z', NOW + 1_000],
      ['2028-02-29T23:59:59-23:59', Date.parse('2028-03-01T23:58:59Z')],
      ['2099-12-31T00:00:00.123456789Z', Date.parse('2099-12-31T00:00:00.123Z')],
    ] as const) {
      t.equal(readValidUntil(text, NOW), at, text);
    }
  });

  t.test('moments that there are not', async (t) => {
    for (const text of [
      '2099-02-30T00:00:00Z',
      '2099-02-29T00:00:00Z',
      '2099-04-31T00:00:00Z',
      '2099-13-01T00:00:00Z',
      '2099-00-01T00:00:00Z',
      '2099-01-00T00:00:00Z',
      '2099-01-01T24:00:00Z',
      '2099-01-01T00:60:00Z',
      '2099-12-31T23:59:60Z',
      '2099-01-01T00:00:00+24:00',
      '2099-01-01T00:00:00+01:60',
      '2099-01-01T00:00:00',
      '2099-01-01',
      '2099-1-1T00:00:00Z',
      'tomorrow',
      '',
    ]) {
      t.throws(() => readValidUntil(text, NOW), { message: 'Invalid validUntil datetime format' }, text);
    }
  });

  t.test('moments that are over', async (t) => {
    for (const text of ['2026-01-01T00:00:00Z', '2025-12-31T23:59:59.999Z', '0001-01-01T00:00:00Z']) {
      t.throws(() => readValidUntil(text, NOW), { message: 'The validUntil time cannot be in the past' }, text);
    }
  });
});
