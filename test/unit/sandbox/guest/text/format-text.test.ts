import { format } from 'node:util';
import t from 'tap';
import { filledIn } from '../../../../../sandbox/guest/globals/console.ts';

const line = (...values: unknown[]) => filledIn(values).join(' ');

t.test('places are filled in as Node fills them in', (t) => {
  for (const values of [
    ['%s is %d', 'a', 1.5],
    ['%i %f', '12.7', '1.5'],
    ['%i', -1.5],
    ['100%', 'x'],
    ['%% %s', 'x'],
    ['%s %s', 'a'],
    ['%s', 'a', 'b', 3],
    ['%d %i %s', 5n, 6n, 7n],
    ['%c styled', 'color: red'],
    ['%d', Symbol.iterator],
    ['%x %s', 'a'],
    ['%s %s', undefined, null],
    ['%i', 'none'],
    ['plain', 'x'],
    ['%s'],
    [5, '%s'],
  ]) {
    t.equal(line(...values), format(...values), JSON.stringify(values[0]));
  }
  t.equal(line('%j|%o|%O', { a: 1 }, [1], 'x'), '{"a":1}|[1]|"x"');
  t.equal(line('%d', { valueOf: () => 5 }), 'NaN');
  t.end();
});
