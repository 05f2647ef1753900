import t from 'tap';
import { createLog } from '../../../../src/observability/log.ts';
import { forwardLogs, printable } from '../../../../src/plugin-host/forwarded-logs.ts';

t.test('console lines go to the log with plugin, request and level', async (t) => {
  const lines: string[] = [];
  const log = createLog('debug', { write: (line) => lines.push(line) });
  const levels = ['log', 'info', 'warn', 'error', 'debug'] as const;
  forwardLogs(
    log,
    levels.map((level) => ({ level, message: level })),
    { pluginId: 'p', requestId: 'r' },
  );
  const entries = lines.map((line) => JSON.parse(line));
  t.same(
    entries.map((entry) => [entry.level, entry.line, entry.pluginId, entry.requestId, entry.msg]),
    [
      [30, 'log', 'p', 'r', 'plugin'],
      [30, 'info', 'p', 'r', 'plugin'],
      [40, 'warn', 'p', 'r', 'plugin'],
      [50, 'error', 'p', 'r', 'plugin'],
      [20, 'debug', 'p', 'r', 'plugin'],
    ],
  );
});

// Threat: a line that moves the cursor, forges a second line or hides text by direction marks.
t.test('no control character survives', async (t) => {
  t.equal(printable('plain ünïcode 🙂'), 'plain ünïcode 🙂');
  t.equal(printable('a\nb\tc'), 'a\\nb\\tc');
  t.equal(printable('\u001b[2J\r\u0000\u009b'), '\\u001b[2J\\u000d\\u0000\\u009b');
  t.equal(printable('\u202e\u2028\u200b'), '\\u202e\\u2028\\u200b');
});
