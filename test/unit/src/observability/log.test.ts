import t from 'tap';
import { AppError } from '../../../../src/domain/errors.ts';
import { createLog, humanLine, logEndpoint } from '../../../../src/observability/log.ts';

function logged(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  write(createLog('info', { write: (line) => void lines.push(line) }));
  return lines.join('');
}

t.test('a line is JSON: the object and the text', (t) => {
  const line = logged((log) => log.info({ relayerId: 'r1' }, 'Sent'));
  t.match(JSON.parse(line), { level: 'info', time: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/, relayerId: 'r1', msg: 'Sent' });
  t.equal(
    logged((log) => log.debug({}, 'quiet')),
    '',
  );
  t.end();
});

t.test('secrets are replaced, down to the third level', (t) => {
  const line = logged((log) =>
    log.info({ apiKey: 'hunter2', headers: { authorization: 'hunter2' }, a: { b: { passphrase: 'hunter2' } } }, 'x'),
  );
  t.notMatch(line, /hunter2/);
  t.match(line, /\[redacted\]/);
  const error = Object.assign(new Error('mishap'), { secret: 'hunter2', config: { token: 'hunter2' } });
  const held = [{ apiKey: 'hunter2', id: 1 }];
  const other = logged((log) => log.error({ err: error, held }, 'x'));
  t.notMatch(other, /hunter2/);
  t.match(JSON.parse(other), { err: { message: 'mishap', config: {} }, held: [{ id: 1 }] });
  t.equal(held[0]?.apiKey, 'hunter2', 'what is logged stays as it is');
  t.end();
});

t.test('for a terminal it is written as somebody reads it, secrets replaced as well', (t) => {
  let written = '';
  const log = createLog('info', { write: (line) => void (written += line), format: 'human' });
  log.warn({ relayer: 'r1', token: 'hunter2' }, 'it waits');
  t.match(written, /^\d{4}-\d\d-\d\dT[\d:.]+Z WARN {2}it waits {2}relayer=r1 {2}token="\[redacted\]"\n$/);
  t.end();
});

t.test('an error has its stack, unless it says that something is away', (t) => {
  const err = (error: Error) => JSON.parse(logged((log) => log.error({ err: error }, 'x'))).err;
  t.match(err(new TypeError('mishap')), { type: 'TypeError', message: 'mishap', stack: /log\.test\.ts/ });
  const away = new AppError('UNAVAILABLE', { reason: 'The database does not answer' }, { cause: new Error('ENOENT') });
  t.strictSame(err(away), { type: 'AppError', message: 'The database does not answer: ENOENT', code: 'UNAVAILABLE' });
  t.end();
});

t.test('human line', async (t) => {
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
});

t.test('one line says which endpoint, why, and until when', (t) => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const endpoint = 'https://a.test';
  const now = Date.parse('2026-11-21T10:00:00Z');
  logEndpoint(log, 'sepolia', { kind: 'paused', endpoint, reason: 'no answer', forMs: 60_000 }, now);
  logEndpoint(log, 'sepolia', { kind: 'unfit', endpoint, reason: 'it serves chain 5, not 1', forMs: 1_000 }, now);
  logEndpoint(log, 'sepolia', { kind: 'behind', endpoint, reason: 'its head is block 3' }, now);
  logEndpoint(log, 'sepolia', { kind: 'back', endpoint }, now);
  t.match(lines, [
    {
      level: 'warn',
      network: 'sepolia',
      endpoint,
      reason: 'no answer',
      until: '2026-11-21T10:01:00.000Z',
      msg: 'endpoint paused',
    },
    { level: 'warn', reason: 'it serves chain 5, not 1', msg: 'endpoint set aside' },
    { level: 'warn', reason: 'its head is block 3', msg: 'endpoint is behind' },
    { level: 'info', network: 'sepolia', endpoint, msg: 'endpoint serves again' },
  ]);
  t.notOk('until' in (lines[2] ?? {}), 'nobody knows how long it stays behind');
  t.end();
});
