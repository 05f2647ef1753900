import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningService } from '../../../support/service.ts';

/** Prefix of the line that the server prints after a collection. */
export const COLLECTED = 'collected ';

/** The memory of a process right after a full collection, in bytes. */
export interface Held {
  readonly rss: number;
  /** Of the main thread: objects, compiled code, and buffers outside the heap. */
  readonly heap: number;
  /** The same without compiled code, which grows for minutes and is dropped at once if it has not run for long. */
  readonly data: number;
  /** Resident memory outside the main thread's heap: other threads and native memory. */
  readonly beside: number;
}

const AGAIN_MS = 20;
const PATIENCE_MS = 30_000;

/** Forces a collection in a server that runs `collected-server.ts`. @throws if the server does not report its memory */
export async function collect(service: Pick<RunningService, 'pid' | 'linesAfter'>): Promise<Held> {
  const known = service.linesAfter(0).length;
  process.kill(service.pid, 'SIGUSR2');
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    const last = service.linesAfter(known).find((line) => line.startsWith(COLLECTED));
    if (last !== undefined) return JSON.parse(last.slice(COLLECTED.length)) as Held;
    await sleep(AGAIN_MS);
  }
  throw new Error('the server did not say what it holds');
}
