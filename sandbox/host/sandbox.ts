import { join } from 'node:path';
import type {
  CallReport,
  CallTask,
  CapabilityReply,
  ChildDeath,
  Clock,
  Confinement,
  LoadFailure,
  Log,
  PluginVersion,
  RequestMessage,
} from '../contract.ts';
import { PROTOCOL_VERSION } from '../protocol.ts';
import { CallQueues } from './call-queues.ts';
import type { ChildNews } from './child/child-supervisor.ts';
import { nativeAddon } from './compiler/child-program.ts';
import { type Compiler, createCompiler } from './compiler/compiler.ts';
import { sandboxTexts } from './compiler/sandbox-texts.ts';
import { createDriverPool, type DriverPool } from './driver-pool.ts';
import { FairTaskStarter } from './fair-start.ts';
import { createOrphanProcesses, killProcess, type OrphanProcesses, systemStartTime } from './orphans.ts';
import { Quarantine } from './quarantine.ts';
import { type ProcessClosedMessage, type SandboxProcess, SandboxProcesses } from './sandbox-processes.ts';
import { UsageLedger } from './usage.ts';

/** With `contract.ts`, all that a host knows of the sandbox. */
export { CallTable } from '../call-table.ts';
export type { CallQueues, ChildSeat, NoSeatReason } from './call-queues.ts';
export { type Bundle, type Compiler, createCompiler, type PluginFile } from './compiler/compiler.ts';
export { isInside } from './compiler/source-files.ts';
export { positionInStack, type SourcePositions } from './compiler/source-positions.ts';
export { type Quarantine, requestFingerprint } from './quarantine.ts';
export type { SandboxProcess } from './sandbox-processes.ts';
export type { HourUsage, UsageLedger, UsageTotals } from './usage.ts';

export interface SandboxOptions {
  /** Answers what a running call asks of its host: the call by its process and number, and the request, unparsed. */
  capabilities: (child: number, call: number, request: RequestMessage) => Promise<CapabilityReply>;
  on: SandboxEvents;
  /** Absolute path of this package. */
  sandboxDir: string;
  /** Where to record processes that the system would not end with the host. Absent: nowhere. */
  dataDir?: string | undefined;
  log: Log;
  clock: Clock;
  maxProcesses: number;
  /** The most driver threads. The first one starts at once, the others as processes need them. */
  mostThreads: number;
  /** For tests: another driver, a shorter life of idle processes. */
  driverFile?: string | undefined;
  idleMs?: number | undefined;
}

export interface SandboxEvents {
  /**
   * A process has loaded a version of a plugin, or could not.
   * @returns whether the process's calls use that version; otherwise they use the one before
   */
  loaded(pluginId: string, version: string, failure: LoadFailure | null): boolean;
  /** A plugin's process is being killed, or is dead. Called once, before its calls end. */
  dying(child: SandboxProcess, death: ChildDeath): void;
  /** A plugin's process ended while it loaded a version; `ofItself`: the version is the cause. */
  lost(pluginId: string, version: string, ofItself: boolean): void;
  /** A process is gone that the host did not close. */
  killed(child: SandboxProcess, closed: ProcessClosedMessage): void;
}

/** What one process holds, as last metered; `pluginId` is empty for a spare. */
export interface ProcessUse {
  pluginId: string;
  isolates: number;
  residentBytes: number;
}

export interface SandboxStatus {
  threads: number;
  processes: number;
  queued: number;
  uses: ProcessUse[];
  /** How the operating system confines the processes; undefined until the first has started. */
  confinement: Confinement | undefined;
  /** Why no process starts: the latest attempts have failed, and no ready process is left. Null otherwise. */
  startFailure: string | null;
}

/** Runs plugins' code in confined processes. Knows nothing of what the code is for. */
export interface Sandbox {
  /** Decides which call runs where and when. */
  readonly admission: CallQueues;
  /** Backs off who kills processes again and again. The host tells it of kills and of calls that ended well. */
  readonly quarantine: Quarantine;
  /** Counts what calls used. The host tells it of each call. */
  readonly usage: UsageLedger;
  /**
   * Ends what an earlier host left behind, and starts the first thread and the spare process.
   * @param root the plugins folder, without symbolic links
   * @returns the compiler of that folder, and the start of the thread; undefined when the sandbox is closing
   */
  open(root: string): Promise<{ compiler: Compiler; thread: Promise<void> } | undefined>;
  /** Runs a call in a process that {@link admission} gave it. Rejects when its thread dies. */
  run(thread: number, task: CallTask): Promise<CallReport>;
  /** Ends a call whose report nobody waits for. */
  cancel(thread: number, child: number, call: number): void;
  /** Loads a version in a process, so that its failure is known before the first call. */
  tryOut(version: PluginVersion): boolean;
  /** Looks at queues and idle processes. Call it now and then. */
  tick(): void;
  /** Resolves when a process is ready, or the first could not be started, or after `ms`. */
  settled(ms: number): Promise<void>;
  status(): SandboxStatus;
  /** Ends all processes and threads, waiting for processes up to `ms`. */
  close(ms: number): Promise<void>;
}

/** The culprit of a process death that no call caused. */
const NO_CALL = 0;
/** How long a process without a call is kept. */
const IDLE_MS = 60_000;

/** Wires compiler, threads, processes and admission. */
export function createSandbox(options: SandboxOptions): Sandbox {
  const { log, clock, on, sandboxDir } = options;
  const fairStart = new FairTaskStarter(clock);
  const orphans: OrphanProcesses | undefined =
    options.dataDir === undefined ? undefined : createOrphanProcesses(options.dataDir, systemStartTime, killProcess);
  const stopping = new AbortController();
  let pool: DriverPool | undefined;
  let compiler: Compiler | undefined;
  let starting: Promise<void> | undefined;
  let closing = false;

  const children = new SandboxProcesses(
    {
      threads: () => pool?.threads() ?? [],
      moreThreads: () => pool?.grow(),
      post: (thread, message) => pool?.post(thread, message),
      clock,
      log,
      maxProcesses: options.maxProcesses,
      idleMs: options.idleMs ?? IDLE_MS,
    },
    {
      changed: () => admission.pump(),
      spawned,
      loaded: ({ pluginId }, version, failure) => on.loaded(pluginId, version, failure),
      dying: (child, death) => {
        if (death.cause !== 'closed' && child.pluginId !== '') on.dying(child, death);
      },
      gone,
    },
  );
  const admission = new CallQueues(children, clock);

  function spawned(child: SandboxProcess): void {
    if (children.confinement?.pdeathsig === true) return;
    orphans?.note(child.pids).catch((error: unknown) => log.warn({ err: error }, 'a sandbox process was not noted'));
  }

  function gone(child: SandboxProcess, closed: ProcessClosedMessage, watched: boolean): void {
    if (!watched) for (const pid of child.pids) killProcess(pid);
    orphans?.forget(child.pids);
    // False when a call of the previous version was the culprit: the new version may have been written against it. Also
    // false when the host closed the process.
    const ofItself = watched && closed.cause !== 'closed' && closed.culprit === NO_CALL;
    if (child.loading !== undefined) on.lost(child.pluginId, child.loading, ofItself);
    if (closed.cause !== 'closed') on.killed(child, closed);
  }

  function receive(thread: number, message: ChildNews): void {
    if (message.type !== 'request') return children.handle(message);
    const { child, call } = message;
    fairStart.push(child, () => {
      options
        .capabilities(child, call, message.message)
        .then((reply) => pool?.post(thread, { type: 'reply', child, call, message: { id: message.message.id, reply } }))
        .catch((error: unknown) => log.error({ err: error }, 'a capability call was not answered'));
    });
  }

  async function startThread(compiler: Compiler): Promise<void> {
    // Starts before the builds of plugins: a plugin build that hangs would delay these texts.
    const { runtime, program } = await sandboxTexts(compiler, sandboxDir);
    pool = await createDriverPool(
      {
        filename: options.driverFile ?? join(import.meta.dirname, '..', 'driver', 'driver.ts'),
        data: { protocol: PROTOCOL_VERSION, program, addon: nativeAddon() },
        runtime,
        mostThreads: options.mostThreads,
        log,
        stop: stopping.signal,
      },
      { threadReady: () => children.fill(0), news: receive, threadLost: (thread) => children.threadLost(thread) },
    );
    children.fill(0);
  }

  return {
    admission,
    quarantine: new Quarantine(clock),
    usage: new UsageLedger(clock),
    async open(root) {
      const swept = (await orphans?.sweep()) ?? [];
      if (swept.length > 0) log.warn({ pids: swept }, 'ended sandbox processes that an earlier server left behind');
      if (closing) return undefined;
      compiler = createCompiler({ root, sandboxDir });
      starting = startThread(compiler);
      // Whoever awaits the thread reports the failure.
      starting.catch(() => undefined);
      return { compiler, thread: starting };
    },
    run: (thread, task) => pool?.run(thread, task) ?? Promise.reject(new Error('no thread has been started')),
    cancel: (thread, child, call) => pool?.post(thread, { type: 'cancel', child, call }),
    tryOut: (version) => children.tryOut(version),
    tick() {
      admission.tick();
      children.tick();
    },
    settled: (ms) => waitUntil(() => children.settled, ms),
    status: () => ({
      threads: pool?.threads().length ?? 0,
      processes: children.size,
      queued: admission.queued,
      uses: [...children.list()].map(({ pluginId, isolates, rssBytes }) => ({
        pluginId,
        isolates,
        residentBytes: rssBytes,
      })),
      confinement: children.confinement,
      startFailure: children.stuck,
    }),
    async close(ms) {
      closing = true;
      // No call needs a build any more. A build that hangs would delay the stop.
      await compiler?.close();
      await Promise.race([children.closeAll(), waitUntil(() => children.size === 0, ms)]);
      for (const child of children.list()) for (const pid of child.pids) killProcess(pid);
      // The first thread may still be starting, which takes long on a busy machine: `pool` is not set then.
      stopping.abort();
      await starting?.catch(() => undefined);
      await pool?.close();
    },
  };
}

/** Resolves when the condition holds, or after `ms`. */
export async function waitUntil(condition: () => boolean, ms: number): Promise<void> {
  const end = performance.now() + ms;
  while (!condition() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
}
