import type { MostBytes } from '../../frames.ts';
import { FIXED_LIMITS, type Limits, UP } from '../../protocol.ts';

/** Longest payload a child may send in a frame of each kind, in bytes. */
export function payloadCaps(limits: Pick<Limits, 'result_bytes'>): MostBytes {
  const slack = FIXED_LIMITS.up_frame_slack_bytes;
  const caps = new Map<number, number>([
    [UP.READY, slack],
    // The thrown error and its stack; every character may be escaped.
    [UP.LOADED, 2 * slack],
    [UP.ENTER, 0],
    [UP.LEAVE, 0],
    [UP.SHELF, 10],
    [UP.REQUEST, FIXED_LIMITS.request_bytes],
    [UP.LOG, FIXED_LIMITS.log_bytes],
    // The result is JSON text inside JSON. Escaping at most doubles it.
    [UP.DONE, 2 * limits.result_bytes + slack],
  ]);
  return (kind) => caps.get(kind);
}
