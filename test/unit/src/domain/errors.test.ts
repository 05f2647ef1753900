import t from 'tap';
import { AppError, ERRORS, type ErrorCode, invalidRequest, messageOf } from '../../../../src/domain/errors.ts';

t.test('an error names the thing it is about', (t) => {
  const error = new AppError('RELAYER_NOT_FOUND', { id: 'r1' });
  t.equal(error.message, 'Relayer with ID r1 not found');
  t.equal(error.publicMessage, error.message);
  t.equal(error.status, 404);
  t.equal(error.retryable, false);
  t.end();
});

t.test('the fixed text stands beside the specific reason', (t) => {
  const error = invalidRequest('value: missing');
  t.equal(error.message, 'value: missing');
  t.equal(error.publicMessage, 'Bad Request');
  t.equal(error.status, 400);
  t.end();
});

t.test('a value cannot smuggle in another placeholder', (t) => {
  const error = new AppError('SIGNER_FAILED', { id: '{reason}', reason: 'x' });
  t.equal(error.message, 'Signer {reason} failed: x');
  t.end();
});

t.test('the cause is kept', (t) => {
  const cause = new Error('socket');
  t.equal(new AppError('INTERNAL', {}, { cause }).cause, cause);
  t.end();
});

t.test('each row has an HTTP status and a text', (t) => {
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    t.ok(ERRORS[code].status >= 400 && ERRORS[code].status < 600, `${code} has a failure status`);
    t.ok(ERRORS[code].text.length > 0, `${code} has a text`);
  }
  t.end();
});

t.test('anything thrown has a message', (t) => {
  t.equal(messageOf(new Error('down')), 'down');
  t.equal(messageOf('text'), 'text');
  t.end();
});
