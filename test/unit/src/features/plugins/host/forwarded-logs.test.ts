import t from 'tap';
import { forwardLogs, printableLogText } from '../../../../../../src/features/plugins/host/forwarded-logs.ts';
import { createLog } from '../../../../../../src/observability/log.ts';

t.test('console lines go to the log with plugin, request and level', async (t) => {
  const lines: string[] = [];
  const log = createLog('debug', { write: (line) => lines.push(line) });
  const levels = ['log', 'info', 'warn', 'error', 'debug'] as const;
  forwardLogs(
    log,
    levels.map((level) => ({ level, message: level })),
    { pluginId: 'p', requestId: 'r', keyId: 'k' },
    true,
  );
  const entries = lines.map((line) => JSON.parse(line));
  t.same(
    entries.map((entry) => [entry.level, entry.line, entry.pluginId, entry.requestId, entry.msg]),
    [
      ['info', 'log', 'p', 'r', 'plugin'],
      ['info', 'info', 'p', 'r', 'plugin'],
      ['warn', 'warn', 'p', 'r', 'plugin'],
      ['error', 'error', 'p', 'r', 'plugin'],
      ['debug', 'debug', 'p', 'r', 'plugin'],
    ],
  );
});

t.test('what nobody caught goes to the log in any case, as an error with its stack', async (t) => {
  const lines: string[] = [];
  const log = createLog('debug', { write: (line) => lines.push(line) });
  const uncaught = { level: 'uncaught', message: 'Uncaught Error: a\u001b[2J\n    at f\n[cause]: b' } as const;
  forwardLogs(log, [{ level: 'log', message: 'said' }, uncaught], { pluginId: 'p', requestId: 'r', keyId: 'k' }, false);
  t.equal(lines.length, 1);
  t.match(JSON.parse(lines[0] ?? ''), {
    level: 'error',
    pluginId: 'p',
    requestId: 'r',
    keyId: 'k',
    msg: 'a plugin did not catch an error',
    err: {
      message: 'Uncaught Error: a\\u001b[2J',
      stack: 'Uncaught Error: a\\u001b[2J\n    at f\n[cause]: b',
    },
  });
});

// Threat: a log line moves the cursor, forges a second line, or hides text with direction marks.
t.test('no control character survives', async (t) => {
  t.equal(printableLogText('plain ünïcode 🙂'), 'plain ünïcode 🙂');
  t.equal(printableLogText('a\nb\tc'), 'a\\nb\\tc');
  t.equal(printableLogText('\u001b[2J\r\u0000\u009b'), '\\u001b[2J\\u000d\\u0000\\u009b');
  t.equal(printableLogText('\u202e\u2028\u200b'), '\\u202e\\u2028\\u200b');
});
