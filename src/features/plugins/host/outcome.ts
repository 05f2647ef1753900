import {
  type CallOutcome,
  type CallUsage,
  END_CODES,
  type HostFailure,
  type LogEntry,
} from '../../../../sandbox/contract.ts';
import type { CallEnding } from '../../calls/record.ts';
import type { PluginEntry } from '../records/plugin.ts';
import type { PluginAnswer } from './plugin-host.ts';
import type { TraceEntry } from './trace.ts';

/** When the caller may try again after its process was lost: the next process is there by then. */
const LOST_RETRY_SECONDS = 1;

/** What a finished call leaves besides its outcome. */
export interface CallTrail {
  logs: readonly LogEntry[];
  traces: readonly TraceEntry[];
  usage: ShownUsage;
}

/** The usage of a call as `metadata.usage` shows it. */
export interface ShownUsage extends CallUsage {
  /** From the arrival of the call to its end, including waits for a place. */
  duration_ms: number;
}

/** The flags of an entry that shape its answers. */
export type AnswerShape = Pick<PluginEntry, 'emit_logs' | 'emit_traces' | 'emit_usage' | 'raw_response'>;

/** An outcome in which an end may have the place in the author's files, as JSON text. */
export type PlacedOutcome = CallOutcome | (Extract<CallOutcome, { kind: 'ended' }> & { details: string });

/**
 * The HTTP answer of a call. The guest makes and measures the JSON text of the result. This function inserts the text
 * and never parses it, so the size of a result costs the service no time.
 */
export function pluginAnswerOf(outcome: PlacedOutcome, shape: AnswerShape, trail: CallTrail): PluginAnswer {
  switch (outcome.kind) {
    case 'returned':
      if (shape.raw_response) return { status: 200, body: outcome.json };
      return {
        status: 200,
        body: `{"success":true,"data":${outcome.json},"error":null${metadata(shape, trail)}}`,
      };
    case 'threw': {
      const message = outcome.message.trim() === '' ? 'Plugin execution failed' : outcome.message;
      return failed(httpStatus(outcome.status), outcome.code, outcome.details, message, shape, trail);
    }
    case 'ended': {
      const { status } = END_CODES[outcome.code];
      const retry = status === 503 ? { retryAfter: LOST_RETRY_SECONDS } : {};
      const details = 'details' in outcome ? outcome.details : '{}';
      return { ...failed(status, outcome.code, details, outcome.message, shape, trail), ...retry };
    }
    default:
      throw new Error(`Unknown outcome ${JSON.stringify(outcome satisfies never)}`);
  }
}

/** What is stored of the outcome of a durable call. */
export function endingOf(outcome: PlacedOutcome): CallEnding {
  if (outcome.kind === 'returned') return { returned: outcome.json };
  const { message, code } = outcome;
  const details = 'details' in outcome ? { details: outcome.details } : {};
  const status = outcome.kind === 'threw' ? httpStatus(outcome.status) : END_CODES[outcome.code].status;
  return { error: { code, message, status, ...details } };
}

/** The HTTP answer of a durable call that has ended, for those who did not wait for it here. */
export function answerOfEnding(ending: CallEnding, shape: AnswerShape): PluginAnswer {
  const trail = { logs: [], traces: [], usage: NO_USAGE };
  if ('returned' in ending) return pluginAnswerOf({ kind: 'returned', json: ending.returned }, shape, trail);
  const { code, message, status, details = '{}' } = ending.error;
  return failed(status, code, details, message, shape, trail);
}

const NO_USAGE: ShownUsage = { cpu_ms: 0, calls: 0, heap_bytes: 0, bytes_in: 0, bytes_out: 0, duration_ms: 0 };

/** The HTTP answer to a call that never reached plugin code, or that the host itself ended. */
export function failureAnswer(failure: HostFailure, shape: AnswerShape, trail: CallTrail): PluginAnswer {
  const details = JSON.stringify(failure.details ?? {});
  const answer = failed(failure.status, failure.code, details, failure.message, shape, trail);
  return failure.retryAfter === undefined ? answer : { ...answer, retryAfter: failure.retryAfter };
}

function failed(
  status: number,
  code: string,
  details: string,
  message: string,
  shape: AnswerShape,
  trail: CallTrail,
): PluginAnswer {
  const data = `{"code":${JSON.stringify(code)},"details":${details}}`;
  if (shape.raw_response) return { status, body: data };
  return {
    status,
    body: `{"success":false,"data":${data},"error":${JSON.stringify(message)}${metadata(shape, trail)}}`,
  };
}

/** Only the enabled keys; nothing at all when none is. */
function metadata(shape: AnswerShape, { logs, traces, usage }: CallTrail): string {
  if (!shape.emit_logs && !shape.emit_traces && !shape.emit_usage) return '';
  const enabled = {
    ...(shape.emit_logs && { logs: logs.map(shownLine) }),
    ...(shape.emit_traces && { traces }),
    ...(shape.emit_usage && { usage }),
  };
  return `,"metadata":${JSON.stringify(enabled)}`;
}

function shownLine({ level, message }: LogEntry): LogEntry {
  return { level: level === 'uncaught' ? 'error' : level, message };
}

/** Statuses of answers that cannot have a body. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/** The status a plugin asked for, or 500 where HTTP could not carry the failure's body with it. */
function httpStatus(status: number): number {
  return Number.isInteger(status) && status >= 200 && status <= 599 && !WITHOUT_BODY.has(status) ? status : 500;
}
