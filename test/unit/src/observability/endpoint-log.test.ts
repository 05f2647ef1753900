import t from 'tap';
import { logEndpoint } from '../../../../src/observability/endpoint-log.ts';
import { createLog } from '../../../../src/observability/log.ts';

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
