import type { LogEntry } from '../../../../sandbox/contract.ts';
import type { WireObject } from '../../../domain/json/json.ts';
import type { Page, PageRequest } from '../../../domain/page.ts';
import { wireTime } from '../../../domain/wire-time.ts';
import { printableLogText } from './forwarded-logs.ts';

/** A call that has ended, with what it wrote. */
export interface LoggedCall {
  requestId: string;
  keyId: string;
  /** In milliseconds since the epoch. */
  at: number;
  outcome: string;
  durationMs: number;
  lines: readonly LogEntry[];
}

/** A call that has ended, of whatever plugin. */
export interface EndedCall extends LoggedCall {
  pluginId: string;
}

/** The most calls that are kept of one plugin. */
const MAX_CALLS = 100;
/** How much of one call's log is kept. A hundred calls of each plugin lie in memory. */
const ROOM = { lines: 200, characters: 32_768 };
const MAX_LINE = 2_000;
/** The longest report of an uncaught error, which is a stack with its causes. */
const MAX_REPORT = 8_192;

/**
 * What the last calls of each plugin wrote and how they ended, whether or not their answers showed it. Calls that wrote
 * nothing and ended well are left out. Kept in memory, only for this instance.
 */
export class CallLog {
  readonly #calls = new Map<string, LoggedCall[]>();

  add(pluginId: string, call: LoggedCall): void {
    const calls = this.#calls.get(pluginId) ?? [];
    this.#calls.set(pluginId, calls);
    calls.push(fitCallLog(call, ROOM));
    if (calls.length > MAX_CALLS) calls.shift();
  }

  /** The kept calls of a plugin, the latest first. */
  list(pluginId: string, { page, perPage }: PageRequest): Page<WireObject> {
    const calls = (this.#calls.get(pluginId) ?? []).toReversed();
    return { items: calls.slice((page - 1) * perPage, page * perPage).map(callView), total: calls.length };
  }

  /** Forgets the calls of a plugin that is gone. */
  forget(pluginId: string): void {
    this.#calls.delete(pluginId);
  }
}

/** A call as the API shows it. */
export function callView({ requestId, keyId, at, outcome, durationMs, lines }: LoggedCall): WireObject {
  return {
    request_id: requestId,
    key_id: keyId,
    at: wireTime(at),
    outcome,
    duration_ms: durationMs,
    logs: lines.map(({ level, message }) =>
      level === 'uncaught'
        ? { level: 'error', message: readable(message.slice(0, MAX_REPORT)) }
        : { level, message: readable(message.slice(0, MAX_LINE)) },
    ),
  };
}

/** Makes each line printable and keeps the line breaks, because a stack is read by its lines. */
function readable(message: string): string {
  return message.split('\n').map(printableLogText).join('\n');
}

/** How much of a call's log may be kept. */
export interface LogRoom {
  lines: number;
  characters: number;
}

/** A call with only the lines that fit into the room. Returns the same object when all lines fit. */
export function fitCallLog<Call extends { lines: readonly LogEntry[] }>(call: Call, room: LogRoom): Call {
  const lines = fitLogLines(call.lines, room);
  return lines === call.lines ? call : { ...call, lines };
}

/**
 * The lines that fit into the room, in their order. The last line that fits may be cut. An uncaught error gets room
 * first: it is written at the end, and tells the most.
 */
export function fitLogLines(lines: readonly LogEntry[], room: LogRoom): readonly LogEntry[] {
  const characters = lines.reduce((sum, { message }) => sum + message.length + 1, 0);
  // The usual case.
  if (lines.length <= room.lines && characters <= room.characters) return lines;
  const chosen = [...lines.entries()].sort(([, a], [, b]) => weightOf(b) - weightOf(a));
  const within: [at: number, line: LogEntry][] = [];
  let left = room.characters;
  for (const [at, { level, message }] of chosen) {
    if (left <= 0 || within.length >= room.lines) {
      within.push([at, { level: 'warn', message: `${lines.length - within.length} more log lines were dropped` }]);
      break;
    }
    within.push([at, { level, message: message.length <= left ? message : copied(message.slice(0, left)) }]);
    left -= message.length + 1;
  }
  return within.sort(([a], [b]) => a - b).map(([, line]) => line);
}

function weightOf({ level }: LogEntry): number {
  return level === 'uncaught' ? 1 : 0;
}

/** Copies a text, because a slice would keep the whole original text in memory. */
function copied(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
