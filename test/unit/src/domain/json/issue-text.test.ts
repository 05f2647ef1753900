import t from 'tap';
import { z } from 'zod';
import '../../../../../src/domain/json/issue-text.ts';

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
