import t from 'tap';
import { jsonLine, plain, rowsOf } from '../../../../../src/cli/remote/rows.ts';

t.test('columns stand below each other, and nothing in them is obeyed', (t) => {
  t.strictSame(
    rowsOf(
      ['ID', 'STATE'],
      [
        ['a', 'x'],
        ['long one', '\u001b[31mred\n'],
      ],
    ),
    ['ID        STATE', 'a         x', 'long one  \\u001b[31mred\\u000a'],
  );
  t.equal(plain('\u202eabc\u0085'), '\\u202eabc\\u0085');
  t.equal(jsonLine({ a: 2n ** 70n }), '{"a":"1180591620717411303424"}');
  t.end();
});
