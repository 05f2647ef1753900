import t from 'tap';
import { z } from 'zod';
import { check, pathOf } from '../../../../src/config/check.ts';
import { Findings, textOf } from '../../../../src/config/problems.ts';

function faults(schema: z.ZodType, value: unknown): string[] {
  const findings = new Findings();
  check(schema, value, { file: 'f', path: 'here' }, findings);
  return findings.problems.map(textOf);
}

t.test('what is right comes back parsed', (t) => {
  const findings = new Findings();
  t.equal(check(z.string().transform(Number), '7', { file: 'f', path: '' }, findings), 7);
  t.strictSame(findings.problems, []);
  t.end();
});

t.test('each fault has its path, and what is missing is called missing', (t) => {
  const schema = z.object({ list: z.array(z.object({ id: z.string() })), flag: z.boolean() });
  t.strictSame(faults(schema, { list: [{ id: 'a' }, {}], flag: 'x' }), [
    'f: here.list[1].id: missing: expected a string',
    'f: here.flag: expected a boolean, not a string',
  ]);
  t.end();
});

t.test('an unknown key is compared with its neighbours, however deep', (t) => {
  const inner = z.strictObject({ memory_mb: z.int().optional() });
  const schema = z.strictObject({
    limits: inner.optional(),
    list: z.array(inner).default([]),
    named: z.record(z.string(), inner).nullable().optional(),
    piped: inner.transform((value) => value).optional(),
    pre: z.preprocess((value) => value, inner).optional(),
  });
  const slip = { memory_md: 1 };
  const value = { limits: slip, list: [slip], named: { x: slip }, piped: slip, pre: slip };
  t.strictSame(
    faults(schema, value),
    ['limits', 'list[0]', 'named.x', 'piped', 'pre'].map(
      (path) => `f: here.${path}.memory_md: unknown key. Did you mean "memory_mb"?`,
    ),
  );
  t.strictSame(faults(schema, { colour: 1 }), [
    'f: here.colour: unknown key. Known here: limits, list, named, piped, pre',
  ]);
  t.strictSame(faults(z.union([inner, inner]).or(z.strictObject({})), {}), []);
  t.end();
});

t.test('paths read as one would write them', (t) => {
  t.equal(pathOf('', ['a', 0, 'b']), 'a[0].b');
  t.equal(pathOf('x[1]', []), 'x[1]');
  t.end();
});
