import type { Json } from '../../../domain/json/json.ts';

/** One relayer call of a plugin call, as `metadata.traces` shows it. */
export interface TraceEntry {
  /** The public SDK's method name. */
  method: string;
  /** The relayer's id as the plugin gave it; empty when it gave none. */
  relayerId: string;
  /** UUID of this relayer call; it is in the log line of a failure too. */
  requestId: string;
  /** The payload of the call. `null` when it was not understood, or when the call's traces had no room for it. */
  payload: Json;
  /** The time until the relayer call's answer, or until the end of the plugin call when there was no answer by then. */
  durationMs: number;
  /** `refused`: by the plugin's grants and limits. `running`: the plugin call ended first. */
  outcome: TraceOutcome | 'running';
}

export type TraceOutcome = 'ok' | 'error' | 'refused';

/** The most bytes of payloads that one call's traces keep. */
const PAYLOAD_BYTES = 262_144;

/** The relayer calls of one plugin call, in the order in which they were made. Moments are on the clock's `elapsed`. */
export class Traces {
  private readonly list: { entry: TraceEntry; beganAt: number }[] = [];
  private left = PAYLOAD_BYTES;

  /** Notes a relayer call that begins; the returned function notes its end. */
  begin({ method, relayerId, requestId, payload }: TracedCall, beganAt: number): TraceEnd {
    const bytes = JSON.stringify(payload).length;
    const fits = bytes <= this.left;
    if (fits) this.left -= bytes;
    const shown = fits ? payload : null;
    const entry: TraceEntry = { method, relayerId, requestId, payload: shown, durationMs: 0, outcome: 'running' };
    this.list.push({ entry, beganAt });
    return (outcome, endedAt) => {
      entry.outcome = outcome;
      entry.durationMs = milliseconds(endedAt - beganAt);
    };
  }

  /** The relayer calls so far. */
  entries(now: number): TraceEntry[] {
    return this.list.map(({ entry, beganAt }) =>
      entry.outcome === 'running' ? { ...entry, durationMs: milliseconds(now - beganAt) } : entry,
    );
  }
}

export type TracedCall = Pick<TraceEntry, 'method' | 'relayerId' | 'requestId' | 'payload'>;

export type TraceEnd = (outcome: TraceOutcome, endedAt: number) => void;

function milliseconds(duration: number): number {
  return Math.round(duration * 1000) / 1000;
}
