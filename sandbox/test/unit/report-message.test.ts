import t from 'tap';
import type { CallReport } from '../../contract.ts';
import { decodeReportMessage, encodeReportMessage } from '../../report-message.ts';

const report: CallReport = {
  outcome: { kind: 'returned', json: '{"a":1}' },
  logs: [
    { level: 'info', message: 'one' },
    { level: 'error', message: 'two' },
  ],
  dropped_logs: 3,
  usage: { cpu_ms: 1.5, calls: 2, heap_bytes: 30_000, bytes_in: 40, bytes_out: 50 },
  lost: false,
};

t.test('a report crosses as it is, whichever way the call ended', async (t) => {
  const outcomes: CallReport['outcome'][] = [
    report.outcome,
    { kind: 'threw', message: 'no', code: 'PLUGIN_ERROR', status: 422, details: '{"b":2}' },
    { kind: 'ended', code: 'TIMEOUT', message: 'too long' },
  ];
  for (const outcome of outcomes) {
    for (const lost of [false, true]) {
      const message = encodeReportMessage(7, { ...report, outcome, lost });
      t.equal(message[0], 7);
      t.same(decodeReportMessage(structuredClone(message)), { ...report, outcome, lost });
    }
  }
});

t.test('a call without log lines sends none', async (t) => {
  t.same(encodeReportMessage(1, { ...report, logs: [] })[2], []);
});
