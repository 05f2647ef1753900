import type { Json } from '../domain/json.ts';

/** One relayer call of a plugin call, as `metadata.traces` shows it. */
export interface TraceEntry {
  /** The public SDK's method name. */
  method: string;
  relayerId: string;
  /** UUID of this relayer call; it is in the log line of a failure too. */
  requestId: string;
  /** What was sent; `null` where the call's traces had grown too long to keep it. */
  payload: Json;
  durationMs: number;
  outcome: 'ok' | 'error' | 'running';
}

/** Bytes of payloads that one call's traces keep. */
const PAYLOAD_BYTES = 262_144;

/** The relayer calls of one plugin call, in the order in which they were made. */
export class Traces {
  private readonly list: TraceEntry[] = [];
  private left = PAYLOAD_BYTES;

  /** Notes a relayer call that begins; the returned function notes its end. */
  begin({ method, relayerId, requestId, payload }: TracedCall): TraceEnd {
    const bytes = JSON.stringify(payload).length;
    const kept = bytes <= this.left;
    if (kept) this.left -= bytes;
    const shown = kept ? payload : null;
    const entry: TraceEntry = { method, relayerId, requestId, payload: shown, durationMs: 0, outcome: 'running' };
    this.list.push(entry);
    return (outcome, durationMs) => {
      entry.outcome = outcome;
      entry.durationMs = Math.round(durationMs * 1000) / 1000;
    };
  }

  entries(): readonly TraceEntry[] {
    return this.list;
  }
}

export type TracedCall = Pick<TraceEntry, 'method' | 'relayerId' | 'requestId' | 'payload'>;

export type TraceEnd = (outcome: 'ok' | 'error', durationMs: number) => void;
