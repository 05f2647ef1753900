import t from 'tap';
import { isDeclaredAsBefore } from '../../../../src/services/declared-value.ts';

t.test('two declarations say the same under a key, or not', (t) => {
  t.ok(isDeclaredAsBefore('a', { a: 1, b: 2 }, { a: 1 }));
  t.ok(
    isDeclaredAsBefore('a', { a: { x: 1, y: [{ p: 1, q: 2 }] } }, { a: { y: [{ q: 2, p: 1 }], x: 1 } }),
    'the order of keys',
  );
  t.ok(isDeclaredAsBefore('a', {}, {}), 'both nothing');
  t.ok(isDeclaredAsBefore('a', {}, null));
  t.notOk(isDeclaredAsBefore('a', { a: 1 }, { a: '1' }));
  t.notOk(isDeclaredAsBefore('a', { a: null }, {}), 'null is said, nothing is not');
  t.notOk(isDeclaredAsBefore('a', { a: [1, 2] }, { a: [2, 1] }));
  t.notOk(isDeclaredAsBefore('a', { a: 1 }, null));
  t.end();
});
