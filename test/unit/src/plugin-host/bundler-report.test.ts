/** Threat: a process that reads what is hostile is made to say more than the server can bear. */
import t from 'tap';
import { bundlerReportSchema } from '../../../../src/plugin-host/bundler-report.ts';

const problem = { text: 'x', place: { file: 'a.ts', line: 1, column: 1 } };

t.test('each message is read as it is', async (t) => {
  for (const report of [
    { kind: 'ready', version: 1 },
    { kind: 'read', build: 0, files: [['/a.ts', '1 2 3']] },
    { kind: 'built', build: 1, code: 10, map: null },
    { kind: 'oversized', build: 2, bytes: 10 ** 9 },
    { kind: 'failed', build: 3, problems: [problem], total: 7000 },
  ]) {
    t.strictSame(bundlerReportSchema.parse(report), report);
  }
});

t.test('what is longer, more or other than it may be is refused', async (t) => {
  for (const report of [
    { kind: 'ready', version: 0 },
    { kind: 'read', build: 0, files: Array.from({ length: 101 }, () => ['/a.ts', '']) },
    { kind: 'read', build: 0, files: [['x'.repeat(4097), '']] },
    { kind: 'built', build: 1, code: 10 * 1_048_576 + 1, map: null },
    { kind: 'built', build: 1, code: 1, map: 4 * 1_048_576 + 1 },
    { kind: 'built', build: -1, code: 1, map: 1 },
    { kind: 'failed', build: 3, problems: Array.from({ length: 6 }, () => problem), total: 6 },
    { kind: 'failed', build: 3, problems: [{ ...problem, text: 'x'.repeat(501) }], total: 1 },
    { kind: 'failed', build: 3, problems: [{ ...problem, more: 1 }], total: 1 },
    { kind: 'other' },
  ]) {
    t.equal(bundlerReportSchema.safeParse(report).success, false, JSON.stringify(report).slice(0, 80));
  }
});
