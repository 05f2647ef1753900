import t from 'tap';
import type { ReportMessage } from '../../../../../sandbox/protocol.ts';
import { reportOf } from '../../../../../src/plugin-host/processes/report-message.ts';

t.test('a text is the result, anything else the outcome', async (t) => {
  const returned: ReportMessage = [5, '"{}"', ['warn', 'careful'], 1, 2, 3, 4, 5, 6, false];
  t.same(reportOf(returned), {
    outcome: { kind: 'returned', json: '"{}"' },
    logs: [{ level: 'warn', message: 'careful' }],
    dropped_logs: 1,
    usage: { cpu_ms: 2, calls: 3, heap_bytes: 4, bytes_in: 5, bytes_out: 6 },
    lost: false,
  });
  const outcome = { kind: 'ended', code: 'SANDBOX_LOST', message: 'gone' } as const;
  t.same(reportOf([5, outcome, [], 0, 0, 0, 0, 0, 0, true]).outcome, outcome);
  t.equal(reportOf([5, outcome, [], 0, 0, 0, 0, 0, 0, true]).lost, true);
});
