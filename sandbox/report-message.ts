import type { CallReport, LogEntry } from './contract.ts';
import type { ReportMessage } from './protocol.ts';

/** A call's report as it crosses to the host. */
export function encodeReportMessage(call: number, report: CallReport): ReportMessage {
  const { outcome, logs, dropped_logs: droppedLogs, usage, lost } = report;
  const { cpu_ms, calls, heap_bytes, bytes_in, bytes_out } = usage;
  const ended = outcome.kind === 'returned' ? outcome.json : outcome;
  const lines: string[] = [];
  for (const { level, message } of logs) lines.push(level, message);
  return [call, ended, lines, droppedLogs, cpu_ms, calls, heap_bytes, bytes_in, bytes_out, lost];
}

/** Reads a call's report from a driver thread's message. The thread is trusted, so nothing is checked. */
export function decodeReportMessage(message: ReportMessage): CallReport {
  const [, ended, lines, droppedLogs, cpuMs, calls, heapBytes, bytesIn, bytesOut, lost] = message;
  const logs: LogEntry[] = [];
  for (let at = 0; at < lines.length; at += 2) {
    logs.push({ level: lines[at] as LogEntry['level'], message: lines[at + 1] ?? '' });
  }
  return {
    outcome: typeof ended === 'string' ? { kind: 'returned', json: ended } : ended,
    logs,
    dropped_logs: droppedLogs,
    usage: { cpu_ms: cpuMs, calls, heap_bytes: heapBytes, bytes_in: bytesIn, bytes_out: bytesOut },
    lost,
  };
}
