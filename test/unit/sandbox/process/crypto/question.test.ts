/** Threat: fields of other types than they say, inherited ones, and errors that tell of this process. */
import t from 'tap';
import { failureOf, forgetErrors, Question } from '../../../../../sandbox/process/crypto/question.ts';

t.test('each field is looked at', (t) => {
  const question = new Question({ text: 'a', number: 5, half: 1.5, bytes: 'YWI=', list: ['x'], long: 'a'.repeat(40) });
  t.equal(question.text('text'), 'a');
  t.equal(question.optional('absent'), undefined);
  t.equal(question.whole('number', 5), 5);
  t.equal(question.optionalWhole('absent', 5), undefined);
  t.equal(question.bytes('bytes').toString(), 'ab');
  t.equal(question.optionalBytes('absent'), undefined);
  t.equal(question.one('text', ['a', 'b']), 'a');
  for (const wrong of [
    () => question.text('absent'),
    () => question.text('number'),
    () => question.text('toString'),
    () => question.bytes('list'),
    () => question.bytes('long', 3),
    () => question.whole('half', 9),
    () => question.whole('number', 4),
    () => question.whole('absent', 4),
    () => question.one('text', ['b']),
    () => new Question('text'),
  ]) {
    t.throws(wrong, { code: 'ERR_CRYPTO_OPERATION_FAILED' });
  }
  t.end();
});

t.test('of an error the guest is told what is about its data', (t) => {
  const error = Object.assign(new RangeError('too long'), { code: 'ERR_X', reason: 'long', library: 5, secret: 'x' });
  t.strictSame(failureOf(error), { kind: 'RangeError', message: 'too long', code: 'ERR_X', reason: 'long' });
  t.strictSame(failureOf(new SyntaxError('x')), { kind: 'Error', message: 'x' });
  for (const text of ['a\n    at file', 'see /etc/passwd', 'file:///x', 'node:internal/x', 'x'.repeat(500)]) {
    t.equal(failureOf(new Error(text)), undefined);
  }
  t.equal(failureOf({ message: 'x' }), undefined);
  t.doesNotThrow(forgetErrors);
  t.end();
});
