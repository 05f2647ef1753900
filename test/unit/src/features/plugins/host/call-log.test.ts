import t from 'tap';
import {
  CallLog,
  fitCallLog,
  fitLogLines,
  type LoggedCall,
} from '../../../../../../src/features/plugins/host/call-log.ts';

const call = (given: Partial<LoggedCall> = {}): LoggedCall => ({
  requestId: 'q',
  keyId: 'k',
  at: 1_700_000_000_000,
  outcome: 'returned',
  durationMs: 3,
  lines: [],
  ...given,
});
const ALL = { page: 1, perPage: 500 };

t.test('the latest come first, in the words of the wire', (t) => {
  const log = new CallLog();
  log.add('p', call({ requestId: 'first' }));
  log.add('p', call({ outcome: 'threw', lines: [{ level: 'uncaught', message: 'no\u001b[31m' }] }));
  log.add('other', call());
  t.strictSame(log.list('p', { page: 1, perPage: 1 }), {
    items: [
      {
        request_id: 'q',
        key_id: 'k',
        at: '2023-11-14T22:13:20.000+00:00',
        outcome: 'threw',
        duration_ms: 3,
        logs: [{ level: 'error', message: 'no\\u001b[31m' }],
      },
    ],
    total: 2,
  });
  t.match(log.list('p', { page: 2, perPage: 1 }).items, [{ request_id: 'first' }]);
  t.strictSame(log.list('nobody', ALL), { items: [], total: 0 });
  t.end();
});

t.test('what nobody caught is there whatever was written before it, line by line', (t) => {
  const log = new CallLog();
  const lines = Array.from({ length: 300 }, () => ({ level: 'log' as const, message: 'x' }));
  const stack = `Error: no\u001b[31m\n${'    at f (plugins/f.ts:1:1)\n'.repeat(100)}    at handler (plugins/f.ts:2:9)`;
  log.add('p', call({ outcome: 'threw', lines: [...lines, { level: 'uncaught', message: stack }] }));
  const logs = log.list('p', ALL).items[0]?.['logs'] as unknown[];
  t.strictSame(logs.at(-1), { level: 'error', message: stack.replace('\u001b', '\\u001b') });
  t.end();
});

t.test('it is bounded in calls, lines and their length, and forgets', (t) => {
  const log = new CallLog();
  const lines = Array.from({ length: 300 }, () => ({ level: 'log' as const, message: 'x'.repeat(5_000) }));
  for (let at = 0; at < 150; at += 1) log.add('p', call({ at, lines }));
  const { items, total } = log.list('p', ALL);
  t.strictSame([items.length, total], [100, 100]);
  t.match(items.at(-1), { at: '1970-01-01T00:00:00.050+00:00' });
  const logs = items[0]?.['logs'] as { message: string }[];
  // Six full lines, one shortened line, and one line about the rest.
  t.strictSame([logs.length, logs[0]?.message.length], [8, 2_000]);
  t.match(logs[7], { message: '293 more log lines were dropped' });
  log.add('q', call({ lines: Array.from({ length: 300 }, () => ({ level: 'log' as const, message: 'x' })) }));
  const short = log.list('q', ALL).items[0]?.['logs'] as { message: string }[];
  t.match([short.length, short[200]], [201, { message: '100 more log lines were dropped' }]);
  log.forget('p');
  t.equal(log.list('p', ALL).total, 0);
  t.end();
});

t.test('call lines', async (t) => {
  const long = { level: 'info' as const, message: 'x'.repeat(10_000) };
  const uncaught = { level: 'uncaught' as const, message: 'Error: no\n    at handler (plugins/p.ts:1:1)' };
  const shape = (lines: readonly { level: string; message: string }[]) =>
    lines.map(({ level, message }) => [level, message.length]);

  t.test('the beginning is kept, and the rest is counted', (t) => {
    const room = { lines: 100, characters: 8_192 };
    t.strictSame(shape(fitLogLines([{ level: 'info', message: 'first' }, long, long, long], room)), [
      ['info', 5],
      ['info', 8_186],
      ['warn', '2 more log lines were dropped'.length],
    ]);
    t.strictSame(fitLogLines([], room), []);
    t.end();
  });

  t.test('what nobody caught finds room before all else, and stands where it was written', (t) => {
    for (const room of [
      { lines: 2, characters: 100_000 },
      { lines: 100, characters: 100 },
    ]) {
      const [first, ...others] = fitLogLines([long, long, long, uncaught], room);
      t.match(first, { level: 'info' });
      t.match(others, [{ level: 'warn', message: '2 more log lines were dropped' }, uncaught]);
    }
    t.strictSame(fitLogLines([uncaught, long], { lines: 1, characters: 9 }), [
      { level: 'uncaught', message: 'Error: no' },
      { level: 'warn', message: '1 more log lines were dropped' },
    ]);
    t.end();
  });

  t.test('a call is copied only where some of its lines go', (t) => {
    const call = { id: 1, lines: [uncaught] };
    t.equal(fitCallLog(call, { lines: 1, characters: 100 }), call);
    t.strictSame(shape(fitCallLog({ id: 1, lines: [long] }, { lines: 1, characters: 5 }).lines), [['info', 5]]);
    t.end();
  });
});
