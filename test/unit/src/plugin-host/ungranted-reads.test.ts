import t from 'tap';
import type { LogEntry } from '../../../../sandbox/protocol.ts';
import { createLog } from '../../../../src/observability/log.ts';
import type { ServingVersion } from '../../../../src/plugin-host/catalog/version-swap.ts';
import { takeUngranted } from '../../../../src/plugin-host/ungranted-reads.ts';

t.test('names are told once, and are no lines', (t) => {
  const said: string[] = [];
  const log = createLog('warn', { write: (line) => said.push(line) });
  const version = { reads: { environment: ['KNOWN'], fetches: false, hosts: [] } } as unknown as ServingVersion;
  const own: LogEntry = { level: 'info', message: 'own' };
  const of = (name: string): LogEntry => ({ level: 'ungranted', message: name });
  const lines = [of('KNOWN'), own, of('API_URL'), of('no name\n'), of('API_URL')];
  t.strictSame(takeUngranted(lines, log, 'p', version), [own]);
  t.strictSame(takeUngranted([of('API_URL')], log, 'p', version), []);
  t.strictSame(version.reads.environment, ['API_URL', 'KNOWN']);
  t.equal(said.length, 1);
  t.match(said[0], 'add \\"API_URL\\" to permissions.env of plugin p in config.json');
  t.strictSame(takeUngranted([own], log, 'p', undefined), [own]);
  t.strictSame(takeUngranted([of('X_Y')], log, 'p', undefined), []);
  t.end();
});
