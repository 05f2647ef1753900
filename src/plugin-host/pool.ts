import type { MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { CallReport, CallTask, DriverData, DriverMessage, HostMessage } from '../../sandbox/protocol.ts';
import type { Log } from '../observability/log.ts';

/** The driver threads as the host uses them; the one implementation is {@link createDriverPool}. */
export interface DriverPool {
  /** The threads that are ready, by their id. */
  threads(): readonly number[];
  /** Runs a call in a slot of this thread. Rejects when the thread dies. */
  run(thread: number, task: CallTask): Promise<CallReport>;
  /** Sends a message to a thread; lost when the thread is gone. */
  post(thread: number, message: HostMessage): void;
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
  /** The driver's file, `sandbox/driver/driver.ts`; its export `run` is the task. */
  filename: string;
  data: DriverData;
  threads: number;
  log: Log;
}

/** How long all threads may take to say that they are ready, in ms. */
const START_MS = 30_000;

/** How many calls a thread may interleave; the real bounds are set by admission. */
const CALLS_PER_THREAD = 4096;

/**
 * Starts the driver threads and resolves once each has sent its port. Piscina's queue is never used to wait in: it is
 * served from its head, so one full thread would hold up all others.
 */
export async function createDriverPool(deps: DriverPoolDeps, events: DriverPoolEvents): Promise<DriverPool> {
  const ports = new Map<number, MessagePort>();
  const started = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;

  const pool = new Piscina<CallTask, CallReport>({
    filename: deps.filename,
    name: 'run',
    workerData: deps.data,
    minThreads: deps.threads,
    maxThreads: deps.threads,
    idleTimeout: Number.POSITIVE_INFINITY,
    // The default parks a thread between tasks, and what its children say then lies unread.
    atomics: 'disabled',
    concurrentTasksPerWorker: CALLS_PER_THREAD,
    recordTiming: false,
    loadBalancer(task, workers) {
      const thread = threadOf(task);
      // A task for a thread that has just died goes to another one, which answers that it does not know the slot.
      return workers.find((worker) => worker.id === thread) ?? workers[0] ?? null;
    },
  });
  pool.on('error', (error: Error) => deps.log.error({ err: error }, 'a driver thread failed'));
  pool.on('message', (hello: unknown) => {
    if (!isHello(hello)) return;
    const { port, thread } = hello;
    ports.set(thread, port);
    port.on('message', (message: DriverMessage) => events.message(thread, message));
    port.on('close', () => {
      if (!ports.delete(thread) || closing !== undefined) return;
      deps.log.error({ thread }, 'a driver thread ended');
      events.threadLost(thread);
    });
    events.threadReady(thread);
    if (ports.size === deps.threads) started.resolve();
  });

  const driverPool: DriverPool = {
    threads: () => [...ports.keys()],
    run(thread, task) {
      const routed = { ...task, [Piscina.queueOptionsSymbol]: { thread } };
      return pool.run(routed);
    },
    post: (thread, message) => ports.get(thread)?.postMessage(message),
    close() {
      closing ??= end();
      return closing;
    },
  };

  async function end(): Promise<void> {
    const open = [...ports.values()];
    ports.clear();
    for (const port of open) port.close();
    await pool.destroy();
  }

  const timer = setTimeout(() => {
    started.reject(new Error(`${ports.size} of ${deps.threads} driver threads are ready after ${START_MS} ms`));
  }, START_MS);
  try {
    await started.promise;
  } catch (error) {
    await driverPool.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return driverPool;
}

/** The load balancer sees of a task only what lies under piscina's symbol. */
function threadOf(task: unknown): number | undefined {
  const options = (task as { [key: symbol]: unknown })[Piscina.queueOptionsSymbol];
  return (options as { thread: number } | undefined)?.thread;
}

/** A thread's first message; whatever else is posted there is not meant for us. */
function isHello(message: unknown): message is { port: MessagePort; thread: number } {
  return typeof message === 'object' && message !== null && 'port' in message && 'thread' in message;
}
