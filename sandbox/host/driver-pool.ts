import type { MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { CallTable } from '../call-table.ts';
import type { CallReport, CallTask, Log } from '../contract.ts';
import {
  type DriverData,
  type DriverMessage,
  type FromDriverMessages,
  type HostMessage,
  MESSAGES_AT_ONCE,
  type ReportMessage,
  type ToDriverMessages,
} from '../protocol.ts';

/** The driver threads as the host uses them; the one implementation is {@link createDriverPool}. */
export interface DriverPool {
  /** The threads that are ready, by their id. */
  threads(): readonly number[];
  /** Runs a call in a child of this thread. Rejects when the thread dies. */
  run(thread: number, task: CallTask): Promise<CallReport>;
  /** Sends a message to a thread. The message is lost when the thread is gone. */
  post(thread: number, message: HostMessage): void;
  /** Starts one more thread, unless one is being started or the limit is reached. */
  grow(): void;
  /** Ends all threads. Safe to call twice. */
  close(): Promise<void>;
}

/** What a pool tells its owner. */
export interface DriverPoolEvents {
  threadReady(thread: number): void;
  message(thread: number, message: DriverMessage): void;
  /** The thread is gone, and with it the channels to its children; a new one is being started. */
  threadLost(thread: number): void;
}

export interface DriverPoolDeps {
  /** The driver's file, `sandbox/driver/driver.ts`; its export `task` is there for piscina only. */
  filename: string;
  data: DriverData;
  /** The most threads. */
  mostThreads: number;
  log: Log;
  /** Ends a start that is under way, with the signal's reason. */
  stop?: AbortSignal;
}

/**
 * How long the first thread may take to say that it is ready, in ms: longer than it may try how children can be
 * confined, see `sandbox/driver/confinement.ts`.
 */
const START_MS = 60_000;

/**
 * Pauses before missing threads are started, in ms. The pause doubles from the first value to the last until none is
 * missing.
 */
const RESTART_FIRST_MS = 100;
const RESTART_LAST_MS = 5000;

/** The host's side of one thread: the messages to it, and the calls that wait for its reports. */
class DriverThread {
  readonly port: MessagePort;
  readonly #runs = new CallTable<PromiseWithResolvers<CallReport>>();
  #outbox: ToDriverMessages[number][] = [];

  constructor(port: MessagePort) {
    this.port = port;
  }

  run(task: CallTask): Promise<CallReport> {
    const run = Promise.withResolvers<CallReport>();
    this.#runs.set(task.call, run);
    this.post({ type: 'run', ...task });
    return run.promise;
  }

  /** Messages of one turn of the loop cross together, see {@link MESSAGES_AT_ONCE}. */
  post(message: ToDriverMessages[number]): void {
    const waiting = this.#outbox.push(message);
    if (waiting >= MESSAGES_AT_ONCE) this.#flush();
    else if (waiting === 1) setImmediate(() => this.#flush());
  }

  report({ call, report }: ReportMessage): void {
    this.#runs.get(call)?.resolve(report);
    this.#runs.delete(call);
  }

  /** Rejects all waiting calls, because the thread has ended. Safe to call twice. */
  end(): void {
    for (const run of this.#runs.values()) run.reject(new Error('The driver thread of the call ended'));
    this.#runs.clear();
  }

  #flush(): void {
    if (this.#outbox.length === 0) return;
    const messages: ToDriverMessages = this.#outbox;
    this.#outbox = [];
    this.port.postMessage(messages);
  }
}

/**
 * Starts the first driver thread and resolves once it has sent its port. Piscina owns the threads. Calls and messages
 * cross over the ports, not through Piscina's queue: it is served from its head, so one full thread would hold up all
 * others.
 *
 * This function also replaces threads that end. Piscina stops replacing them after one could not start. And while the
 * system starts no thread, Piscina's attempt would throw from an event.
 */
export async function createDriverPool(deps: DriverPoolDeps, events: DriverPoolEvents): Promise<DriverPool> {
  const { stop } = deps;
  stop?.throwIfAborted();
  const threads = new Map<number, DriverThread>();
  const started = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;
  let restart: NodeJS.Timeout | undefined;
  let pauseMs = RESTART_FIRST_MS;
  let target = 1;

  const pool = new Piscina({
    filename: deps.filename,
    name: 'task',
    workerData: deps.data,
    minThreads: 0,
    maxThreads: deps.mostThreads,
    idleTimeout: Number.POSITIVE_INFINITY,
    // The default blocks a thread between tasks. It would not read the messages of its children then.
    atomics: 'disabled',
    recordTiming: false,
  });
  let lastFailure: unknown;
  const failed = (error: unknown) => {
    lastFailure = error;
    if (closing === undefined) deps.log.error({ err: error }, 'a driver thread failed');
  };

  /**
   * Starts the missing threads. Queues one task for each target thread: each running thread takes one task, and each
   * task that is left starts a new thread.
   */
  function fill(): void {
    restart = undefined;
    if (closing !== undefined) return;
    try {
      for (let task = 0; task < target; task++) pool.run(undefined).catch(failed);
    } catch (error) {
      failed(error);
    }
    if (pool.threads.length < target) fillLater();
  }

  function fillLater(): void {
    if (restart !== undefined) return;
    restart = setTimeout(fill, pauseMs);
    pauseMs = Math.min(pauseMs * 2, RESTART_LAST_MS);
  }

  pool.on('error', failed);
  pool.on('workerDestroy', fillLater);
  pool.on('message', (hello: unknown) => {
    if (!isHello(hello)) return;
    const { port, thread: id } = hello;
    const thread = new DriverThread(port);
    threads.set(id, thread);
    port.on('message', (messages: FromDriverMessages) => {
      for (const message of messages) {
        if (message.type === 'report') thread.report(message);
        else events.message(id, message);
      }
    });
    port.on('close', () => {
      thread.end();
      if (!threads.delete(id) || closing !== undefined) return;
      deps.log.error({ thread: id }, 'a driver thread ended');
      events.threadLost(id);
    });
    events.threadReady(id);
    if (threads.size < target) return;
    pauseMs = RESTART_FIRST_MS;
    started.resolve();
  });

  const driverPool: DriverPool = {
    threads: () => [...threads.keys()],
    run: (id, task) => threads.get(id)?.run(task) ?? Promise.reject(new Error('The driver thread of the call is gone')),
    post: (id, message) => threads.get(id)?.post(message),
    grow() {
      if (threads.size < target || target === deps.mostThreads) return;
      target++;
      fill();
    },
    close() {
      closing ??= end();
      return closing;
    },
  };

  async function end(): Promise<void> {
    const open = [...threads.values()];
    threads.clear();
    for (const thread of open) {
      thread.port.close();
      thread.end();
    }
    const destroyed = pool.destroy();
    clearTimeout(restart);
    await destroyed;
  }

  fill();

  const late = () =>
    started.reject(new Error(`no driver thread is ready after ${START_MS} ms`, { cause: lastFailure }));
  // Two turns of the loop: a process that was held up first reads what its thread has sent.
  const timer = setTimeout(() => setImmediate(() => setImmediate(late)), START_MS);
  const giveUp = () => started.reject(stop?.reason);
  stop?.addEventListener('abort', giveUp);
  try {
    await started.promise;
  } catch (error) {
    await driverPool.close();
    throw error;
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener('abort', giveUp);
  }
  return driverPool;
}

/** Whether a message is a thread's first one. All other messages to the pool are ignored. */
function isHello(message: unknown): message is { port: MessagePort; thread: number } {
  return typeof message === 'object' && message !== null && 'port' in message && 'thread' in message;
}
