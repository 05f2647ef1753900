import t from 'tap';
import { requestIdOf } from '../../../../src/http/request-id.ts';

const idOf = (given: string | string[] | undefined) =>
  requestIdOf({ headers: given === undefined ? {} : { 'x-request-id': given } }, () => 'fresh');

t.test('a short printable id is kept', (t) => {
  t.equal(idOf('abc-123'), 'abc-123');
  t.equal(idOf('x'.repeat(128)), 'x'.repeat(128));
  t.end();
});

t.test('anything that could disturb a log or a header gets a fresh one', (t) => {
  for (const given of [undefined, '', 'x'.repeat(129), 'a b', 'é', 'a\u0000', ['a', 'b']]) {
    t.equal(idOf(given), 'fresh', JSON.stringify(given));
  }
  t.end();
});
