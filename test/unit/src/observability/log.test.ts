import t from 'tap';
import { AppError } from '../../../../src/domain/errors.ts';
import { createLog } from '../../../../src/observability/log.ts';

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
