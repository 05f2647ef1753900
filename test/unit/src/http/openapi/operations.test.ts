import t from 'tap';
import { createChains } from '../../../../../src/chains/registry.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { ERRORS, type ErrorCode } from '../../../../../src/domain/errors.ts';
import { operations } from '../../../../../src/http/openapi/operations.ts';
import { describedBodies } from '../../../../support/described.ts';

const chains = createChains(systemClock);
const all = operations(describedBodies(chains));

/** Codes that no operation answers with: for unknown paths, for other methods, and for a start that fails. */
const ELSEWHERE: readonly ErrorCode[] = ['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED', 'SIGNER_UNUSABLE'];
/** Codes that only a plugin's code meets, as errors of its calls. */
const IN_PLUGINS: readonly ErrorCode[] = ['GRANT_EXCEEDED', 'BUDGET_SPENT', 'FETCH_FAILED'];
/** Codes that every operation may answer with. */
const EVERYWHERE: readonly ErrorCode[] = [
  'UNAUTHORIZED',
  'NOT_PERMITTED',
  'ORIGIN_NOT_ALLOWED',
  'TOO_MANY_REQUESTS',
  'INTERNAL',
  'UNAVAILABLE',
  'HANDLER_TIMEOUT',
];

t.test('ids are unique', (t) => {
  const ids = Object.values(all).map(({ id }) => id);
  t.strictSame([...new Set(ids)], ids);
  t.end();
});

t.test('each row of the error table is the answer of some operation', (t) => {
  const named = new Set([
    ...Object.values(all).flatMap(({ errors }) => errors),
    ...ELSEWHERE,
    ...IN_PLUGINS,
    ...EVERYWHERE,
  ]);
  t.strictSame(
    (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !named.has(code)),
    [],
  );
  t.end();
});

t.test('each example of a body is one', (t) => {
  for (const [route, { body }] of Object.entries(all)) {
    if (body !== undefined) t.ok(body.schema.safeParse(body.example).success, route);
  }
  t.end();
});
