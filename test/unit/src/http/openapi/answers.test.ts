import t from 'tap';
import { z } from 'zod';
import { AppError } from '../../../../../src/domain/errors.ts';
import { networkNotReached, relayerDisabled } from '../../../../../src/domain/relayer/disabled-reason.ts';
import { failure, success, successPage } from '../../../../../src/http/envelope.ts';
import { envelope, failureSchema, pageOf } from '../../../../../src/http/openapi/answers.ts';

t.test('the envelopes are those that the server makes', (t) => {
  const page = { page: 1, perPage: 10 };
  t.same(envelope(z.string()).parse(success('x')), success('x'));
  const list = successPage({ items: ['x'], total: 1 }, page);
  t.same(pageOf(z.string()).parse(list), list);
  for (const error of [
    new AppError('UNAUTHORIZED', {}),
    networkNotReached('sepolia'),
    relayerDisabled({ type: 'Multiple', details: [{ type: 'A', details: 'a' }], nextCheckAt: 1 }),
    new AppError('TOO_MANY_REQUESTS', {}, { retryAfterSeconds: 2 }),
  ]) {
    t.same(failureSchema.parse(failure(error)), failure(error));
  }
  t.end();
});
