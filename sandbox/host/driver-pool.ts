import type { MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { CallReport, CallTask, Log } from '../contract.ts';
import type { DriverData, DriverHello, FromDriverMessages, ToDriverMessage, ToDriverMessages } from '../protocol.ts';
import { ChildDoor, type ChildLink } from './child/child-link.ts';
import { bootFrame, type ChildNews, callNotStartedReport } from './child/child-supervisor.ts';
import { type ChildOrder, Children } from './child/children.ts';

/** The driver threads as the host uses them; the one implementation is {@link createDriverPool}. */
export interface DriverPool {
  /** The threads that are ready, by their id. */
  threads(): readonly number[];
  /** Runs a call in a child of this thread. */
  run(thread: number, task: CallTask): Promise<CallReport>;
  /** Orders something of a child of this thread. The order is lost when the thread is gone. */
  post(thread: number, order: ChildOrder): void;
  /** Starts one more thread, unless one is being started or the limit is reached. */
  grow(): void;
  /** Ends all threads. Safe to call twice. */
  close(): Promise<void>;
}

/** What a pool tells its owner. */
export interface DriverPoolEvents {
  threadReady(thread: number): void;
  /** Never called within {@link DriverPool.post}. */
  news(thread: number, news: ChildNews): void;
  /** The thread is gone, and with it the channels to its children; a new one is being started. */
  threadLost(thread: number): void;
}

export interface DriverPoolDeps {
  /** The driver's file, `sandbox/driver/driver.ts`; its export `task` is there for piscina only. */
  filename: string;
  data: Omit<DriverData, 'door'>;
  /** The text of the guest runtime. */
  runtime: string;
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

/** The host's side of one thread. */
interface DriverThread {
  readonly port: MessagePort;
  readonly children: Children;
}

/** Collects the messages of one turn of the loop for a thread and posts them together. */
function postTogether(port: MessagePort): (message: ToDriverMessage) => void {
  let outbox: ToDriverMessage[] = [];
  const flush = () => {
    const messages: ToDriverMessages = outbox;
    outbox = [];
    port.postMessage(messages);
  };
  return (message) => {
    if (outbox.push(message) === 1) setImmediate(flush);
  };
}

/**
 * Starts the first driver thread and resolves once it has sent its port. Piscina owns the threads. Messages cross
 * over the ports, not through Piscina's queue: it is served from its head, so one full thread would hold up all others.
 * The calls themselves cross no thread: the host speaks with each child over the child's own channel.
 *
 * This function also replaces threads that end. Piscina stops replacing them after one could not start. And while the
 * system starts no thread, Piscina's attempt would throw from an event.
 */
export async function createDriverPool(deps: DriverPoolDeps, events: DriverPoolEvents): Promise<DriverPool> {
  const { stop } = deps;
  stop?.throwIfAborted();
  const threads = new Map<number, DriverThread>();
  const door = new ChildDoor();
  const throttled = new Set<ChildLink>();
  const boots = new Map<boolean, Buffer>();
  const boot = (journal: boolean) => {
    const frame = boots.get(journal) ?? bootFrame(deps.runtime, journal);
    boots.set(journal, frame);
    return frame;
  };
  const started = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;
  let restart: NodeJS.Timeout | undefined;
  let pauseMs = RESTART_FIRST_MS;
  let target = 1;

  const pool = new Piscina({
    filename: deps.filename,
    name: 'task',
    workerData: { ...deps.data, door: door.address } satisfies DriverData,
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
    const { port, thread: id, confinement, comesBack } = hello;
    const children = new Children({
      ...{ door, throttled, boot, confinement, comesBack },
      order: postTogether(port),
      post: (news) => {
        // Only a request never answers an order at once.
        if (news.type === 'request') events.news(id, news);
        else queueMicrotask(() => events.news(id, news));
      },
    });
    threads.set(id, { port, children });
    port.on('message', (messages: FromDriverMessages) => {
      for (const message of messages) children.receive(message);
    });
    port.on('messageerror', () => port.close());
    port.on('close', () => {
      children.abandon();
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
    run: (id, task) => threads.get(id)?.children.run(task) ?? Promise.resolve(callNotStartedReport()),
    post: (id, order) => threads.get(id)?.children.order(order),
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
      thread.children.abandon();
    }
    door.close();
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
function isHello(message: unknown): message is DriverHello {
  return typeof message === 'object' && message !== null && 'port' in message && 'thread' in message;
}
