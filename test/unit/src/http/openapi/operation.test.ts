import t from 'tap';
import { z } from 'zod';
import { ERRORS } from '../../../../../src/domain/errors.ts';
import { ACTING, BODY, found, OF_RELAYER } from '../../../../../src/http/openapi/operation.ts';

t.test('the usual answer is a 200', (t) => {
  const schema = z.string();
  t.strictSame(found('What was asked for', schema), { status: 200, description: 'What was asked for', schema });
  t.end();
});

t.test('the groups of failures are rows of the error table, of the status that their name says', (t) => {
  t.strictSame([...new Set(ACTING.map((code) => ERRORS[code].status))], [403, 429]);
  t.strictSame([...new Set(OF_RELAYER.map((code) => ERRORS[code].status))], [404]);
  t.strictSame(
    [...new Set(BODY.map((code) => ERRORS[code].status))].sort((a, b) => a - b),
    [400, 408, 413, 415],
  );
  t.end();
});
