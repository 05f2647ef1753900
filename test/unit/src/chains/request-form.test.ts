import t from 'tap';
import { z } from 'zod';
import { readForm } from '../../../../src/chains/request-form.ts';

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
  t.strictSame(readForm(schema, { ...GOOD, more: 1 }), GOOD);
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
    t.throws(() => readForm(schema, body), { code: 'INVALID_REQUEST', status: 400, message: said });
  }
});
