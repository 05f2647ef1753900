import t from 'tap';
import { AppError, invalidRequest } from '../../../../src/domain/errors.ts';
import { JsonTextError } from '../../../../src/domain/json/json-text.ts';
import { challengeOf, retryAfterOf, toAppError } from '../../../../src/http/errors.ts';

const context = { contentType: 'text/csv', bodyLimit: 10 };
const coded = (code: string) => Object.assign(new Error('from the framework'), { code });

t.test('an error with a row stays what it is', (t) => {
  const error = invalidRequest('x');
  t.equal(toAppError(error, context), error);
  t.end();
});

t.test("the framework's errors get their rows", (t) => {
  const rows: [thrown: unknown, status: number, text: string | RegExp][] = [
    [new JsonTextError('expected a value at line 1 column 1'), 400, /^Invalid JSON: expected a value/],
    [coded('FST_ERR_CTP_BODY_TOO_LARGE'), 413, 'The body is larger than 10 bytes'],
    [coded('FST_ERR_CTP_INVALID_MEDIA_TYPE'), 415, 'Send application/json, not text/csv'],
    [coded('FST_ERR_CTP_INVALID_CONTENT_LENGTH'), 400, /announced length/],
    [coded('FST_ERR_BAD_URL'), 400, /percent-encoding/],
  ];
  for (const [thrown, status, text] of rows) {
    const error = toAppError(thrown, context);
    t.equal(error.status, status);
    t.match(error.message, text);
  }
  const unnamed = toAppError(coded('FST_ERR_CTP_INVALID_MEDIA_TYPE'), { ...context, contentType: undefined });
  t.match(unnamed.message, /without a content type/);
  t.end();
});

t.test('what has no row is an internal fault that shows nothing of itself', (t) => {
  for (const thrown of [new Error('password=hunter2'), 'hunter2', null, undefined, coded('EWHATEVER')]) {
    const error = toAppError(thrown, context);
    t.equal(error.status, 500);
    t.equal(error.message, 'Internal Server Error');
    t.equal(error.cause, thrown);
  }
  t.end();
});

t.test('a challenge says what to send to who sent something else', (t) => {
  t.equal(challengeOf(undefined), 'Bearer realm="Isolayer"');
  t.match(challengeOf('Bearer iso_x'), /error="invalid_token", error_description="The API key is not known/);
  for (const other of ['iso_x', 'bearer x', 'Basic x', 'Bearer ', 'Bearer a b']) {
    t.match(challengeOf(other), /error_description="Send the API key as: Authorization: Bearer <API key>"$/, other);
  }
  t.end();
});

t.test('only overload asks to come back later', (t) => {
  t.equal(retryAfterOf(new AppError('UNAVAILABLE', { reason: 'x' })), 1);
  t.equal(retryAfterOf(invalidRequest('x')), undefined);
  t.end();
});
