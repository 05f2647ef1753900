import type { LogEntry } from '../../sandbox/protocol.ts';

/** How much of a call's log may be kept. */
export interface LinesRoom {
  lines: number;
  characters: number;
}

/** A call with only the lines that fit into the room. Returns the same object when all lines fit. */
export function withKeptLines<Call extends { lines: readonly LogEntry[] }>(call: Call, room: LinesRoom): Call {
  const lines = keptLines(call.lines, room);
  return lines === call.lines ? call : { ...call, lines };
}

/**
 * The lines that fit into the room, in their order. The last line that fits may be cut. An uncaught error gets room
 * first: it is written at the end, and tells the most.
 */
export function keptLines(lines: readonly LogEntry[], room: LinesRoom): readonly LogEntry[] {
  const characters = lines.reduce((sum, { message }) => sum + message.length + 1, 0);
  // The usual case.
  if (lines.length <= room.lines && characters <= room.characters) return lines;
  const chosen = [...lines.entries()].sort(([, a], [, b]) => weightOf(b) - weightOf(a));
  const kept: [at: number, line: LogEntry][] = [];
  let left = room.characters;
  for (const [at, { level, message }] of chosen) {
    if (left <= 0 || kept.length >= room.lines) {
      kept.push([at, { level: 'warn', message: `${lines.length - kept.length} more log lines were dropped` }]);
      break;
    }
    kept.push([at, { level, message: message.length <= left ? message : copied(message.slice(0, left)) }]);
    left -= message.length + 1;
  }
  return kept.sort(([a], [b]) => a - b).map(([, line]) => line);
}

function weightOf({ level }: LogEntry): number {
  return level === 'uncaught' ? 1 : 0;
}

/** Copies a text, because a slice would keep the whole original text in memory. */
function copied(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
