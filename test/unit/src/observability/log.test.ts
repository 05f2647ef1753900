import t from 'tap';
import { createLog } from '../../../../src/observability/log.ts';

function logged(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  write(createLog('info', { write: (line) => void lines.push(line) }));
  return lines.join('');
}

t.test('a line is JSON: the object and the text', (t) => {
  const line = logged((log) => log.info({ relayerId: 'r1' }, 'Sent'));
  t.match(JSON.parse(line), { level: 30, relayerId: 'r1', msg: 'Sent' });
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
  t.end();
});
