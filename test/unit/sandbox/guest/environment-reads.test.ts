import t from 'tap';
import { EnvironmentReads } from '../../../../sandbox/guest/environment-reads.ts';

function told(reads: EnvironmentReads): string[] {
  const names: string[] = [];
  reads.report((name) => names.push(name));
  return names;
}

t.test('an environment is an object like any other, and what it lacks is noted', (t) => {
  const reads = new EnvironmentReads();
  const env = reads.watch({ GRANTED: 'yes' });
  t.equal(env['GRANTED'], 'yes');
  t.strictSame({ ...env }, { GRANTED: 'yes' });
  env['OWN'] = 'set';
  t.equal(env['OWN'], 'set');
  t.notOk('ABSENT' in env);
  for (const name of ['NODE_ENV', 'HTTPS_PROXY', 'npm_config_x', 'toJSON', 'Mixed', 'A']) t.equal(env[name], undefined);
  t.strictSame(told(reads), []);
  t.equal(reads.hint('failed'), '');
  t.equal(env['API_URL'] ?? env['API_URL'], undefined);
  t.strictSame(told(reads), ['API_URL']);
  t.strictSame(told(reads), [], 'once');
  t.end();
});

t.test('the hint is of what the message names, else of the few that the call has read', (t) => {
  const reads = new EnvironmentReads();
  const env = reads.watch({});
  const read = (...names: string[]) => {
    for (const name of names) t.equal(env[name], undefined);
  };
  read('AT_LOAD');
  t.match(reads.hint('Invalid URL'), /^ \(process\.env\.AT_LOAD is not granted: add "AT_LOAD" to permissions\.env/);
  reads.begin();
  t.equal(reads.hint('Invalid URL'), '', 'it was read before the call');
  t.match(reads.hint('AT_LOAD is missing'), 'process.env.AT_LOAD');
  read('FIRST', 'SECOND');
  t.match(reads.hint('Invalid URL'), /FIRST.*SECOND/);
  read('THIRD', 'FOURTH');
  t.equal(reads.hint('Invalid URL'), '');
  t.match(reads.hint('no FOURTH'), 'process.env.FOURTH');
  t.notMatch(reads.hint('no FOURTH'), 'THIRD');
  t.end();
});
