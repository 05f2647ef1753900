import t from 'tap';
import { z } from 'zod';
import {
  cronScheduleSchema,
  feeMarginSchema,
  feePaymentStrategySchema,
  int32,
  int64,
  SWAP_NEEDS_USER_FEES,
  slippageSchema,
  tokenSwap,
  uint64,
  withoutNulls,
  withoutUndefined,
  withUnsetAsNull,
} from '../../../../src/chains/policy-fields.ts';

const saidOf = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues[0]?.message;

t.test('integers have the bounds of their format and lose no digit', async (t) => {
  t.equal(int32.parse(2_147_483_647), 2_147_483_647);
  t.equal(int64.parse('9223372036854775807'), '9223372036854775807');
  t.equal(uint64.parse('18446744073709551615'), '18446744073709551615');
  for (const bad of [2_147_483_648, -1, 1.5, '5', true]) t.ok(saidOf(int32, bad), String(bad));
  for (const bad of ['9223372036854775808', -1, '-1', 1.5, 'many', '', true, [1]]) {
    t.equal(saidOf(int64, bad), 'expected an integer from 0 to 9223372036854775807', String(bad));
  }
  t.equal(saidOf(uint64, '18446744073709551616'), 'expected an integer from 0 to 18446744073709551615');
  t.match(z.toJSONSchema(int64, { io: 'input' }), { type: 'integer', format: 'int64', minimum: 0 });
});

t.test('percentages, strategies and schedules speak as the reference does', async (t) => {
  t.equal(feeMarginSchema.parse(0.1), 0.1);
  t.equal(saidOf(feeMarginSchema, -0.1), 'Negative fee margin percentage values are not accepted');
  t.ok(saidOf(feeMarginSchema, 1e39), 'beyond a float of 32 bits');
  t.ok(saidOf(feeMarginSchema, '5'));
  for (const fits of [0, 0.5, 100]) t.equal(slippageSchema.parse(fits), fits);
  for (const bad of [-1, 100.5]) t.equal(saidOf(slippageSchema, bad), 'Slippage percentage must be between 0 and 100');
  t.same(feePaymentStrategySchema.options, ['user', 'relayer']);
  t.equal(cronScheduleSchema.parse('0 0 * * * *'), '0 0 * * * *');
  t.equal(saidOf(cronScheduleSchema, ''), 'Empty cron schedule is not accepted');
  t.equal(cronScheduleSchema.safeParse('').error?.issues.length, 1);
  t.equal(saidOf(cronScheduleSchema, '0 0 * * *'), 'Invalid cron schedule format');
  t.equal(SWAP_NEEDS_USER_FEES, 'Swap config only supported for user fee payment strategy');
});

t.test('null means unset at any depth, and swap settings show what is unset as null', async (t) => {
  const policies = { a: null, b: undefined, c: 0, d: { e: null, f: false }, g: [{ h: null, i: '' }, 'x'] };
  t.same(withoutNulls(policies), { c: 0, d: { f: false }, g: [{ i: '' }, 'x'] });
  t.same(withoutUndefined({ a: undefined, b: null, c: 0 }), { b: null, c: 0 });
  t.same(
    withUnsetAsNull(
      tokenSwap.show(tokenSwap.schema.parse({ max_amount: '18446744073709551615', slippage_percentage: null })),
    ),
    {
      slippage_percentage: null,
      min_amount: null,
      max_amount: 18_446_744_073_709_551_615n,
      retain_min_amount: null,
    },
  );
});
