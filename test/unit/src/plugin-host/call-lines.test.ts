import t from 'tap';
import { keptLines, withKeptLines } from '../../../../src/plugin-host/call-lines.ts';

const long = { level: 'info' as const, message: 'x'.repeat(10_000) };
const uncaught = { level: 'uncaught' as const, message: 'Error: no\n    at handler (plugins/p.ts:1:1)' };
const shape = (lines: readonly { level: string; message: string }[]) =>
  lines.map(({ level, message }) => [level, message.length]);

t.test('the beginning is kept, and the rest is counted', (t) => {
  const room = { lines: 100, characters: 8_192 };
  t.strictSame(shape(keptLines([{ level: 'info', message: 'first' }, long, long, long], room)), [
    ['info', 5],
    ['info', 8_186],
    ['warn', '2 more log lines were dropped'.length],
  ]);
  t.strictSame(keptLines([], room), []);
  t.end();
});

t.test('what nobody caught finds room before all else, and stands where it was written', (t) => {
  for (const room of [
    { lines: 2, characters: 100_000 },
    { lines: 100, characters: 100 },
  ]) {
    const [first, ...others] = keptLines([long, long, long, uncaught], room);
    t.match(first, { level: 'info' });
    t.match(others, [{ level: 'warn', message: '2 more log lines were dropped' }, uncaught]);
  }
  t.strictSame(keptLines([uncaught, long], { lines: 1, characters: 9 }), [
    { level: 'uncaught', message: 'Error: no' },
    { level: 'warn', message: '1 more log lines were dropped' },
  ]);
  t.end();
});

t.test('a call is copied only where some of its lines go', (t) => {
  const call = { id: 1, lines: [uncaught] };
  t.equal(withKeptLines(call, { lines: 1, characters: 100 }), call);
  t.strictSame(shape(withKeptLines({ id: 1, lines: [long] }, { lines: 1, characters: 5 }).lines), [['info', 5]]);
  t.end();
});
