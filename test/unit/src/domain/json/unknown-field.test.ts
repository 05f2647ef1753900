import t from 'tap';
import { z } from 'zod';
import '../../../../../src/domain/json/issue-text.ts';
import { strictForm, unknownFields } from '../../../../../src/domain/json/unknown-field.ts';

const any = z.unknown().optional();
const saidOf = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues[0]?.message;

t.test('an unknown key is named with the nearest known one, else beside all that are known', async (t) => {
  t.equal(saidOf(strictForm({ a: any }), { a: 1, xyz: 1 }), 'unknown field `xyz`, expected `a`');
  t.equal(saidOf(strictForm({ a: any, b: any }), { a: 1, b: 1, xy: 1 }), 'unknown field `xy`, expected `a` or `b`');
  const limits = strictForm({ gas_limit: any, gas_price: any, speed: any });
  t.equal(saidOf(limits, { gasLimit: 1 }), 'unknown field `gasLimit`, did you mean `gas_limit`?');
  t.equal(saidOf(limits, { colour: 1 }), 'unknown field `colour`, expected one of `gas_limit`, `gas_price`, `speed`');
  t.equal(
    saidOf(limits, { colour: 1, sped: 1, taste: 1 }),
    'unknown field `colour`; unknown field `sped`, did you mean `speed`?; ' +
      'unknown field `taste`, expected one of `gas_limit`, `gas_price`, `speed`',
  );
  t.equal(saidOf(strictForm({}), { x: 1 }), 'unknown field `x`');
  t.match(saidOf(limits, []), /expected an object/);
});

t.test('what is well known elsewhere has its own advice', async (t) => {
  const form = strictForm({ gas_limit: any }, new Map([['gas', 'it is called gas_limit']]));
  t.equal(saidOf(form, { gas: 1 }), 'unknown field `gas`: it is called gas_limit');
});

t.test('many and long keys are named in part', async (t) => {
  const keys = Array.from({ length: 100_000 }, (_, index) => `${index}`.padEnd(100, 'k'));
  const said = saidOf(strictForm({ a: any }), Object.fromEntries(keys.map((key) => [key, 1]))) ?? '';
  t.equal(said.split('; ').length, 20);
  t.ok(said.length < 20 * 120);
});

t.test('it has nothing to say of another fault', async (t) => {
  const { error } = z.strictObject({ a: z.string() }).safeParse({}, { error: (issue) => unknownFields(issue) });
  t.match(error?.issues[0]?.message, /expected a string/);
});
