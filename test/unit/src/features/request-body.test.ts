import t from 'tap';
import { z } from 'zod';
import { parseBody } from '../../../../src/features/request-body.ts';

const schema = z.strictObject({ url: z.string(), list: z.array(z.strictObject({ weight: z.int() })).optional() });

const reasonOf = (body: unknown, base?: string[]): string => {
  try {
    parseBody(schema, body, base);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it was accepted');
};

t.test('what is right comes through', (t) => {
  t.strictSame(parseBody(schema, { url: 'x' }), { url: 'x' });
  t.end();
});

t.test('each place is named with what is wrong there', (t) => {
  t.equal(reasonOf({}), 'url: missing');
  t.equal(reasonOf({ url: 7 }), 'url: expected a string, not a number');
  t.equal(
    reasonOf({ url: 'x', ur1: 1, more: 2 }),
    'unknown field `ur1`, did you mean `url`?; unknown field `more`, expected `url` or `list`',
  );
  t.match(
    reasonOf({ url: 'x', list: [{ weight: 1 }, { weight: '1', extra: 1 }] }),
    /^list\.1\.weight: .*; list\.1: unknown field `extra`, expected `weight`$/,
  );
  t.equal(reasonOf({}, ['policies']), 'policies.url: missing');
  for (const body of [null, [], 'text', 7]) t.match(reasonOf(body), /^the body: expected an object/);
  t.end();
});

t.test('a reason stays short, whatever a client writes into its keys', (t) => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`${index}`.padEnd(100, 'k'), 1]));
  t.equal(reasonOf({ url: 'x', ...many }).length, 1_001);
  t.throws(() => parseBody(schema, {}), { code: 'INVALID_REQUEST', status: 400, publicMessage: 'Bad Request' });
  t.end();
});
