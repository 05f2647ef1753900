import type { CallReport, ReportMessage } from '../protocol.ts';

/** A call's report as it crosses to the host. */
export function reportMessage(call: number, report: CallReport): ReportMessage {
  const { outcome, logs, dropped_logs: droppedLogs, usage, lost } = report;
  const { cpu_ms, calls, heap_bytes, bytes_in, bytes_out } = usage;
  const ended = outcome.kind === 'returned' ? outcome.json : outcome;
  const lines: string[] = [];
  for (const { level, message } of logs) lines.push(level, message);
  return [call, ended, lines, droppedLogs, cpu_ms, calls, heap_bytes, bytes_in, bytes_out, lost];
}
