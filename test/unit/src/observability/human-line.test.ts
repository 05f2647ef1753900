import t from 'tap';
import { humanLine } from '../../../../src/observability/human-line.ts';

const entry = { level: 'info', time: '2026-11-22T19:00:00.000Z', msg: 'transaction accepted' };
const line = (more: object, isColoured = false) => humanLine(JSON.stringify({ ...entry, ...more }), isColoured);

t.test('time, level, text, fields', (t) => {
  t.equal(
    line({ transaction: 'a-1', count: 2, text: 'two words', none: null, list: ['x'] }),
    '2026-11-22T19:00:00.000Z INFO  transaction accepted  transaction=a-1  count=2  text="two words"  none=null  list=["x"]\n',
  );
  t.match(line({ level: 'warn' }, true), '\u001b[33mWARN \u001b[0m');
  t.notMatch(line({ level: 'warn' }), '\u001b');
  t.end();
});

t.test('an error has its reason; its stack only where somebody has to look', (t) => {
  const err = { message: 'no way', stack: 'Error: no way\n    at one (a.ts:1:1)\n    at two (b.ts:2:2)' };
  t.match(line({ level: 'warn', err }), /error="no way"\n$/);
  t.match(line({ level: 'error', err }), /error="no way"\n {4}at one \(a\.ts:1:1\)\n {4}at two \(b\.ts:2:2\)\n$/);
  t.end();
});

t.test('what a caller brings stays in its line and does not steer the terminal', (t) => {
  const text = 'x\r\n{"level":"fatal"}\u001b[2J\u202e\u2028\u0085';
  const written = line({ text, err: { message: text, stack: `Error: x\n    at ${text}` }, level: 'error' });
  t.equal(written.split('\n').length, 3);
  t.notMatch(written, /[\u001b\u202e\u2028\u0085\r]/);
  t.end();
});
