import t from 'tap';
import { fail } from '../../../../../../sandbox/guest/node/assertion-error.ts';

t.test('an own message, an own error, or what was made of the values', (t) => {
  const failure = { operator: '==', actual: 1, expected: 2, generated: 'made', from: () => {} };
  t.throws(() => fail({ ...failure, message: undefined }), { message: 'made', generatedMessage: true, actual: 1 });
  t.throws(() => fail({ ...failure, message: 'own' }), { message: 'own', generatedMessage: false, operator: '==' });
  t.throws(() => fail({ ...failure, message: (a, b) => `${String(a)} and ${String(b)}` }), { message: '1 and 2' });
  t.throws(() => fail({ ...failure, message: new RangeError('own') }), RangeError);
  t.end();
});
