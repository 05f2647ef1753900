import type { ChildProcess } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { CallTable } from '../call-table.ts';
import {
  type CallOutcome,
  type CallReport,
  type CallTask,
  type ChildDeath,
  DEFAULT_LIMITS,
  FIXED_LIMITS,
  type Limits,
  type LoadFailure,
  type LogEntry,
  type PluginVersion,
} from '../contract.ts';
import { FrameDecoder, ProtocolViolation } from '../frames.ts';
import {
  type BootMessage,
  DOWN,
  type DriverMessage,
  type LoadedMessage,
  PROTOCOL_VERSION,
  type ReplyMessage,
  UP,
} from '../protocol.ts';
import { ChildConnection, type ChildExit, diedInsideGuest, diedOfMemory } from './child.ts';
import { ChildLimits, NO_CALL } from './child-limits.ts';
import {
  childPayloadLimits,
  hasTooManyJsonValues,
  isTooDeep,
  MAX_DEPTH,
  MAX_WEIGHT,
  parseDone,
  parseIsolates,
  parseLoaded,
  parseLog,
  parseReady,
  parseRequest,
  requestId,
  splitRequestText,
} from './child-messages.ts';
import { ChildSampler, ResidentMemoryReader } from './child-sampler.ts';
import type { JournalReader } from './journal.ts';
import type { ChildLauncher } from './launch.ts';
import { BytesInFlight, judgeCallOnChildDeath, RunningCall } from './running-call.ts';

type DropCode = 'TIMEOUT' | 'CANCELED' | 'CALL_LIMIT' | 'SANDBOX_LOST';

/** What a supervisor needs. */
export interface SupervisorParts {
  readonly child: number;
  readonly launcher: ChildLauncher;
  /** Starts the child's process. The process may begin to run a little later. */
  readonly start: () => ChildProcess;
  /** The child's journal, if it has one. */
  readonly journal?: JournalReader | undefined;
  /** The guest runtime's text. */
  readonly runtime: string;
  readonly post: (message: DriverMessage) => void;
}

/** A child that leaves more than this unread gets no further calls. If an answer is due, the child has to go. */
const MAX_BACKLOG_BYTES = 4 * FIXED_LIMITS.down_frame_bytes;
/** How many calls that are over for the service a child may hold on to. A busy child lets go of them late. */
const MAX_HELD_CALLS = 4096;
/** How often the host gets the child's memory while calls run, in milliseconds. */
const METER_MS = 250;

/**
 * Runs one child process: starts, feeds, meters and watches it, parses its frames, and kills it when any of these
 * fails. Everything known of the child comes from its frames, the clock and the operating system. None of its claims is
 * taken as true.
 */
export class ChildSupervisor {
  readonly #parts: SupervisorParts;
  readonly #child: ChildConnection;
  readonly #decoder: FrameDecoder;
  readonly #watchdog: ChildSampler;
  readonly #limits: ChildLimits;
  readonly #versions = new LoadedVersions();
  readonly #inFlight = new BytesInFlight();
  /** Calls that the child has not let go of, including those whose report was sent. */
  readonly #calls = new CallTable<RunningCall>();
  #ready = false;
  #isolates = 0;
  #meteredAt = 0;
  #ending: ChildDeath | null = null;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#decoder = new FrameDecoder(childPayloadLimits({ result_bytes: 0 }), (kind, call, text) =>
      this.#onFrame(kind, call, text),
    );
    this.#child = new ChildConnection(
      parts.start(),
      parts.launcher,
      {
        onBytes: (chunk) => this.#decoder.push(chunk),
        onError: (error) =>
          this.#end(error instanceof ProtocolViolation ? 'protocol' : 'start', error.message, this.#limits.suspect),
        onGone: (gone) => this.#onGone(gone),
      },
      parts.journal,
    );
    this.#limits = new ChildLimits(this.#child);
    this.#watchdog = new ChildSampler(
      { look: (now, rssBytes) => this.#look(now, rssBytes), isBusy: () => this.#isBusy() },
      new ResidentMemoryReader(() => this.#child.memoryPid),
    );
    this.#watchdog.wake();
    const boot: BootMessage = { protocol: PROTOCOL_VERSION, journal: this.#child.keepsJournal, runtime: parts.runtime };
    this.#child.send(DOWN.BOOT, NO_CALL, JSON.stringify(boot));
  }

  /** Gives the child a plugin version; `loaded` or `closed` follows. */
  load(version: PluginVersion): void {
    if (this.#ending !== null) return;
    this.#begin();
    this.#limits.account.load(version.limits);
    this.#versions.expect(version);
    this.#child.send(DOWN.LOAD, NO_CALL, JSON.stringify(version));
  }

  /** Runs one call. The promise always resolves with a report. */
  run(task: CallTask): Promise<CallReport> {
    return new Promise((resolve) => {
      const version = this.#versions.find(task.version);
      if (this.#ending !== null || version === undefined || this.#child.backlogBytes > MAX_BACKLOG_BYTES) {
        resolve(callNotStartedReport());
        return;
      }
      if (version.failure !== null) {
        resolve(reportWithout(version.failure.outcome, false, version.failure.report));
        return;
      }
      const share = this.#limits.account.begin(version.limits);
      const call = new RunningCall(task, version.limits, this.#inFlight, share, resolve, () =>
        this.#drop(call, 'TIMEOUT', `Plugin execution timed out after ${task.timeout_ms / 1000} seconds`),
      );
      this.#begin();
      this.#calls.set(task.call, call);
      const { durable } = task;
      const start = durable === undefined ? '' : ` ${durable.seed} ${durable.now}`;
      this.#child.send(DOWN.INVOKE, task.call, `${task.version}${start}\n${task.context}`);
    });
  }

  /** Passes the host's answer to a capability call down to the child. An answer that comes late is dropped. */
  reply(id: number, message: ReplyMessage): void {
    const call = this.#calls.get(id);
    if (call === undefined || call.settled || !call.answered(message.id)) return;
    if (this.#child.backlogBytes > MAX_BACKLOG_BYTES) return this.#end('protocol', 'it reads no answers', NO_CALL);
    const text = JSON.stringify(message);
    call.sent(Buffer.byteLength(text));
    this.#child.send(DOWN.REPLY, id, text);
  }

  /** The client has left. Safe to call after the call's end. */
  cancel(id: number): void {
    const call = this.#calls.get(id);
    if (call !== undefined) this.#drop(call, 'CANCELED', 'The client closed the request');
  }

  /** Kills the child; `closed` follows. Safe to call twice. */
  close(reason: string): void {
    this.#end('closed', reason, NO_CALL);
  }

  #isBusy(): boolean {
    return this.#calls.size > 0 || this.#versions.loading || !this.#ready;
  }

  #begin(): void {
    if (!this.#isBusy()) this.#limits.heartbeat.beat(performance.now());
    this.#watchdog.wake();
  }

  #onFrame(kind: number, id: number, text: string): void {
    if (this.#ending !== null) return;
    const now = performance.now();
    this.#limits.heartbeat.beat(now);
    switch (kind) {
      case UP.ENTER:
        if (id !== NO_CALL) this.#callOf(id).begun = true;
        return this.#limits.heartbeat.enter(id, now);
      case UP.LEAVE: {
        const ms = this.#limits.left(id, now);
        return id === NO_CALL ? undefined : this.#callOf(id).ran(ms);
      }
      case UP.REQUEST:
        return this.#onRequest(this.#insideOf(id), text);
      case UP.LOG:
        return this.#onLog(this.#insideOf(id), text);
      case UP.DONE:
        return this.#onDone(this.#callOf(id), text);
      case UP.LOADED:
        return this.#onLoaded(text);
      case UP.READY:
        return this.#onReady(text);
      case UP.ISOLATES:
        this.#isolates = parseIsolates(text);
        return this.#limits.account.made();
      default:
        throw new ProtocolViolation(`no such frame: ${kind}`);
    }
  }

  #callOf(id: number): RunningCall {
    const call = this.#calls.get(id);
    if (call === undefined) throw new ProtocolViolation(`call ${id} does not run here`);
    return call;
  }

  /** Returns the call whose guest sent a message. A guest can only send while it runs. */
  #insideOf(id: number): RunningCall {
    const call = this.#callOf(id);
    if (this.#limits.heartbeat.entered !== id)
      throw new ProtocolViolation(`call ${id} speaks from outside of the guest`);
    return call;
  }

  #onReady(text: string): void {
    const { protocol } = parseReady(text);
    if (this.#ready || protocol !== PROTOCOL_VERSION) throw new ProtocolViolation('READY came at the wrong time');
    this.#ready = true;
    const { child, launcher, post } = this.#parts;
    post({ type: 'spawned', child, pids: this.#child.pids, confinement: launcher.confinement });
    post({ type: 'ready', child });
  }

  #onLoaded(text: string): void {
    const message = parseLoaded(text);
    this.#versions.answered(message);
    if (!this.#versions.loading) this.#limits.account.loaded();
    this.#decoder.mostBytes = childPayloadLimits({ result_bytes: this.#versions.resultBytes });
    this.#parts.post({ type: 'loaded', child: this.#parts.child, message });
  }

  #onLog(call: RunningCall, text: string): void {
    if (call.settled) return call.late();
    call.log(parseLog(text), Buffer.byteLength(text));
  }

  #onRequest(call: RunningCall, text: string): void {
    if (call.settled) return call.late();
    const { head, value } = splitRequestText(text);
    const crowded = hasTooManyJsonValues(head);
    const message = crowded ? { id: requestId(head), method: '', params: null } : parseRequest(head, value);
    const admission = call.request(message.id, Buffer.byteLength(text), message.method);
    switch (admission) {
      case 'call-limit': {
        const { calls } = call.limits;
        return this.#drop(call, 'CALL_LIMIT', `The plugin made more than ${calls} capability calls (limits.calls)`);
      }
      case 'too-many-bytes':
        // Other calls are the cause as well, so a durable call may begin again.
        if (call.task.durable !== undefined)
          return this.#drop(call, 'SANDBOX_LOST', 'Too many bytes wait for answers', true);
        return this.#refuse(call, message.id, 'too many bytes are waiting for their answers');
      case 'admitted':
        if (crowded) {
          const most = `${MAX_WEIGHT} values, where an object or array counts for four`;
          return this.#refuse(call, message.id, `parameters may hold at most ${most}`);
        }
        if (isTooDeep(message.params)) {
          return this.#refuse(call, message.id, `parameters may be nested ${MAX_DEPTH} levels deep`);
        }
        return this.#parts.post({ type: 'request', child: this.#parts.child, call: call.task.call, message });
      default:
        return admission satisfies never;
    }
  }

  /**
   * Refuses a capability call without asking the host. A durable call ends instead: its host has to know each answer, and
   * the order of all.
   */
  #refuse(call: RunningCall, id: number, message: string): void {
    if (call.task.durable !== undefined)
      return this.#drop(call, 'CALL_LIMIT', `The plugin called a capability: ${message}`);
    this.reply(call.task.call, { id, reply: { ok: false, error: { message } } });
  }

  #onDone(call: RunningCall, text: string): void {
    const { outcome, usage, dropped_logs: droppedLogs, isolates } = parseDone(text);
    if (this.#limits.heartbeat.entered === call.task.call) throw new ProtocolViolation('DONE before LEAVE');
    if (outcome.kind === 'returned' && !call.begun) throw new ProtocolViolation('a call returned that never ran');
    if (outcome.kind === 'ended' && outcome.code === 'CANCELED' && !call.settled) {
      throw new ProtocolViolation('a call was dropped that nobody had dropped');
    }
    this.#isolates = isolates;
    this.#calls.delete(call.task.call);
    this.#limits.ended(call.task.call, call.share);
    call.done(outcome, usage, droppedLogs);
  }

  /** Ends a call for the service at once. The child reads the message about it when it next reads its channel. */
  #drop(call: RunningCall, code: DropCode, message: string, lost = false): void {
    if (call.settled) return;
    call.end({ code, message, lost });
    const held = this.#calls.values().reduce((count, { settled }) => (settled ? count + 1 : count), 0);
    if (held > MAX_HELD_CALLS) return this.#end('protocol', `it holds on to ${held} calls that are over`, NO_CALL);
    this.#child.send(DOWN.END, call.task.call, '');
  }

  #look(now: number, rssBytes: number): void {
    this.#child.look();
    if (this.#ending !== null) return;
    const { limits } = this.#versions;
    const death = this.#limits.look({ now, rssBytes, ready: this.#ready, limits, owesASign: this.#owesASign() });
    if (death !== null) return this.#end(death.cause, death.detail, death.culprit);

    if (now - this.#meteredAt < METER_MS) return;
    this.#meteredAt = now;
    const shares = Array.from(this.#calls.values(), ({ share }) => share);
    const overspent = this.#limits.overspent(now, shares);
    if (overspent !== null) return this.#end(overspent.cause, overspent.detail, overspent.culprit);
    const { child, post } = this.#parts;
    // Each call that has begun has an isolate. A busy child reports its new isolates late.
    const begun = this.#calls.values().reduce((count, call) => (call.begun ? count + 1 : count), 0);
    const isolates = Math.max(this.#isolates, begun);
    post({ type: 'meter', child, rss_bytes: rssBytes, running: this.#calls.size, isolates });
  }

  /**
   * Whether an honest child would send something soon: it has something to read, a frame to end, a call to begin, or a
   * finished call to let go of.
   */
  #owesASign(): boolean {
    if (!this.#ready) return false;
    if (this.#versions.loading || this.#decoder.holding || this.#child.backlogBytes > 0) return true;
    return this.#calls.values().some((call) => !call.begun || call.settled);
  }

  /** Kills the child and ends its calls. Later reasons do not replace the first. */
  #end(cause: ChildDeath['cause'], detail: string, culprit: number): void {
    if (this.#ending !== null) return;
    this.#watchdog.stop();
    this.#limits.close();
    this.#child.kill();
    this.#endCalls({ cause, detail, culprit }, false);
  }

  #endCalls(ending: ChildDeath, memory: boolean): void {
    const { cause, culprit } = ending;
    this.#ending = ending;
    // Sent before the reports: the host may repeat a call as soon as it gets its report, and must already know the
    // culprit.
    this.#parts.post({ type: 'dying', child: this.#parts.child, ...ending });
    for (const call of this.#calls.values()) {
      call.end(judgeCallOnChildDeath(cause, call.task.call === culprit, call.limits, memory));
    }
    this.#calls.clear();
  }

  #onGone(gone: ChildExit): void {
    this.#watchdog.stop();
    this.#limits.close();
    const ending = this.#ending ?? this.#deathOf(gone);
    if (this.#ending === null) this.#endCalls(ending, diedOfMemory(gone));
    this.#parts.post({ type: 'closed', child: this.#parts.child, ...ending, stderr: gone.stderr });
  }

  #deathOf(gone: ChildExit): ChildDeath {
    const culprit = diedInsideGuest(gone) ? this.#limits.suspect : NO_CALL;
    const detail = `it died of ${gone.signal ?? `exit code ${gone.code}`}`;
    return { cause: this.#ready ? 'died' : 'start', detail, culprit };
  }
}

/** The report of a call that was not begun. The call may be run elsewhere. */
export function callNotStartedReport(): CallReport {
  const message = 'The sandbox process cannot take the call';
  return reportWithout({ kind: 'ended', code: 'SANDBOX_LOST', message }, true);
}

/** The report of a call that was never sent to a child. */
function reportWithout(outcome: CallOutcome, lost: boolean, said = ''): CallReport {
  const usage = { cpu_ms: 0, calls: 0, heap_bytes: 0, bytes_in: 0, bytes_out: 0 };
  const logs: LogEntry[] = said === '' ? [] : [{ level: 'uncaught', message: said }];
  return { outcome, logs, dropped_logs: 0, usage, lost };
}

/** What the driver keeps of a version after the child has its code. */
interface LoadedVersion {
  readonly version: string;
  readonly limits: Limits;
  /** Why it cannot be served, or null. */
  readonly failure: LoadFailure | null;
}

/** The child itself serves the current version and the one before it. */
const KEPT = 2;

/** The versions that a child was given, in the order in which it will answer. */
export class LoadedVersions {
  readonly #expected: PluginVersion[] = [];
  /** Newest first. */
  #loaded: LoadedVersion[] = [];

  /** True while an answer is due. */
  get loading(): boolean {
    return this.#expected.length > 0;
  }

  /** The limits of the newest version. They hold for the process as a whole. */
  get limits(): Limits {
    return this.#expected.at(-1)?.limits ?? this.#loaded[0]?.limits ?? DEFAULT_LIMITS;
  }

  /** Longest result that any version may have, in bytes. */
  get resultBytes(): number {
    return Math.max(0, ...this.#loaded.map(({ limits }) => limits.result_bytes));
  }

  find(version: string): LoadedVersion | undefined {
    return this.#loaded.find((known) => known.version === version);
  }

  expect(version: PluginVersion): void {
    this.#expected.push(version);
  }

  /** @throws ProtocolViolation when another answer was due */
  answered({ version, failure }: LoadedMessage): void {
    const expected = this.#expected.shift();
    if (expected?.version !== version) throw new ProtocolViolation('LOADED names another version than LOAD');
    // A version that failed replaces only an earlier failure; the served versions stay.
    const served = this.#loaded.filter((known) => known.failure === null && known.version !== version);
    this.#loaded = [
      { version, limits: expected.limits, failure },
      ...served.slice(0, failure === null ? KEPT - 1 : KEPT),
    ];
  }
}
