import { AppError } from '../../domain/errors.ts';
import type { Store, StoreWriter } from '../../store/store.ts';

/** The most writes and bytes of one plugin in one commit. Other writers wait for the commit. */
const MAX_JOINED = 32;
const MAX_BYTES = 262_144;

interface Job {
  readonly bytes: number;
  /** Joins a commit with other jobs. Absent: the job makes its own commit. */
  readonly join?: (writer: StoreWriter) => Promise<() => void>;
  readonly alone?: () => Promise<void>;
  readonly fail: (cause: unknown) => void;
}

/**
 * Orders the writes of plugins to their own data. Each plugin has a queue. Its writes happen in the order in which they
 * were asked for, many in one commit, and one commit at a time. So a flood of writes from one plugin delays that plugin
 * and not other writers, and writes of one plugin never collide within this process.
 */
export class PluginWrites {
  readonly #store: Store;
  readonly #lines = new Map<string, Job[]>();

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Runs a write body when it is its turn, in one transaction with others. A body refuses with an AppError below 500,
   * before it writes anything. Any other error rolls back and rejects the other bodies too.
   */
  run<T>(pluginId: string, bytes: number, body: (writer: StoreWriter) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#push(pluginId, {
        bytes,
        fail: reject,
        async join(writer) {
          try {
            const result = await body(writer);
            return () => resolve(result);
          } catch (cause) {
            if (!(cause instanceof AppError) || cause.status >= 500) throw cause;
            return () => reject(cause);
          }
        },
      });
    });
  }

  /** Runs an action that writes in its own transaction, when it is its turn. */
  runAlone<T>(pluginId: string, act: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#push(pluginId, { bytes: 0, fail: reject, alone: async () => resolve(await act()) });
    });
  }

  #push(pluginId: string, job: Job): void {
    const line = this.#lines.get(pluginId);
    if (line !== undefined) {
      line.push(job);
      return;
    }
    const started = [job];
    this.#lines.set(pluginId, started);
    void this.#work(pluginId, started);
  }

  /** Never rejects. */
  async #work(pluginId: string, line: Job[]): Promise<void> {
    while (line.length > 0) {
      const [first] = line;
      const group = first?.join === undefined ? line.splice(0, 1) : takeGroup(line);
      try {
        if (first?.alone === undefined) await this.#commit(group);
        else await first.alone();
      } catch (cause) {
        for (const { fail } of group) fail(cause);
      }
    }
    this.#lines.delete(pluginId);
  }

  async #commit(group: readonly Job[]): Promise<void> {
    // The store may run the body again, so the reports of its last run count.
    const reports = await this.#store.write(async (writer) => {
      const ended: (() => void)[] = [];
      for (const { join } of group) if (join !== undefined) ended.push(await join(writer));
      return ended;
    });
    for (const report of reports) report();
  }
}

/** Removes the jobs from the head of a queue that may share a commit: at least one. */
function takeGroup(line: Job[]): Job[] {
  let bytes = 0;
  let count = 0;
  for (const job of line) {
    bytes += job.bytes;
    if (job.join === undefined || count === MAX_JOINED || (count > 0 && bytes > MAX_BYTES)) break;
    count += 1;
  }
  return line.splice(0, count);
}
