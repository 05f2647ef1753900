import t from 'tap';
import { AppError, invalidRequest } from '../../../../../src/domain/errors.ts';
import { relayerDisabled } from '../../../../../src/domain/relayer/disabled-reason.ts';
import { failure, success, successPage } from '../../../../../src/http/answers/envelope.ts';

t.test('a success carries its data and no error, keys in order', (t) => {
  t.equal(JSON.stringify(success({ id: 'a' })), '{"success":true,"data":{"id":"a"},"error":null}');
  t.end();
});

t.test('a list says which page it is', (t) => {
  t.strictSame(successPage({ items: [{ id: 'a' }], total: 7 }, { page: 2, perPage: 1 }), {
    success: true,
    data: [{ id: 'a' }],
    error: null,
    pagination: { current_page: 2, per_page: 1, total_items: 7 },
  });
  t.end();
});

t.test('a failure has the fixed text beside the reason', (t) => {
  t.strictSame(failure(invalidRequest('page: must be a number')), {
    success: false,
    data: null,
    error: 'page: must be a number',
    message: 'Bad Request',
    code: 'INVALID_REQUEST',
    retryable: false,
  });
  t.match(failure(new AppError('RELAYER_NOT_FOUND', { id: 'r' })), {
    error: 'Relayer with ID r not found',
    message: 'Relayer with ID r not found',
    code: 'RELAYER_NOT_FOUND',
  });
  t.match(failure(new AppError('RELAYER_PAUSED', {})), { code: 'RELAYER_PAUSED', retryable: true });
  const nextCheckAt = 1_700_000_000_000;
  t.match(failure(relayerDisabled({ type: 'BalanceCheckFailed', details: '0xaa has 0 wei', nextCheckAt })), {
    code: 'RELAYER_DISABLED',
    message: 'Relayer disabled',
    disabled_reason: {
      type: 'BalanceCheckFailed',
      details: '0xaa has 0 wei',
      next_check_at: '2023-11-14T22:13:20.000+00:00',
    },
  });
  t.match(failure(new AppError('TOO_MANY_REQUESTS', {}, { retryAfterSeconds: 7 })), { retryable: true, after: 7 });
  t.end();
});
