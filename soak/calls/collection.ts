import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningService } from '../../test/support/service.ts';

/** Begins the line in which the server says what a collection left. */
export const COLLECTED = 'collected ';

/** What a process holds right after a full collection, in bytes. */
export interface Held {
  readonly rss: number;
  /** Of the main thread: objects, what V8 has compiled, and buffers beside the heap. */
  readonly heap: number;
  /** The same without what V8 has compiled: that grows for minutes, and goes at once where it has not run for long. */
  readonly data: number;
  /** Resident beside the main thread's heap: other threads, and what is not JavaScript's. */
  readonly beside: number;
}

const AGAIN_MS = 20;
const PATIENCE_MS = 30_000;

/** Has a server that was started as `collected-server.ts` collect, and reads what it says then; rejects when it is silent. */
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
