import { performance } from 'node:perf_hooks';
import { CallTable } from '../../call-table.ts';
import {
  type CallOutcome,
  type CallReport,
  type CallTask,
  type ChildDeath,
  type Confinement,
  DEFAULT_LIMITS,
  FIXED_LIMITS,
  type Limits,
  type LoadFailure,
  type LogEntry,
  type PluginVersion,
  type RequestMessage,
} from '../../contract.ts';
import { encodeFrame, ProtocolViolation } from '../../frames.ts';
import {
  type BootMessage,
  type ChildExit,
  DOWN,
  type DoneMessage,
  type FromDriverMessage,
  type LoadedMessage,
  type ParsedFrame,
  PROTOCOL_VERSION,
  type ProcessWatch,
  type ReadyMessage,
  type ReplyMessage,
  type ToDriverMessage,
  UP,
} from '../../protocol.ts';
import { ChildLimits, NO_CALL } from './child-limits.ts';
import { type ChildDoor, ChildLink } from './child-link.ts';
import { childPayloadLimits, parseFrame } from './child-messages.ts';
import type { JournalReader } from './journal.ts';
import {
  BytesInFlight,
  Deadlines,
  diedInsideGuest,
  diedOfMemory,
  judgeCallOnChildDeath,
  RunningCall,
} from './running-call.ts';

type DropCode = 'TIMEOUT' | 'CANCELED' | 'CALL_LIMIT' | 'SANDBOX_LOST';

/** What the host is told of a child. `child` and `call` are stamped here, never by the child. */
export type ChildNews =
  | { type: 'spawned'; child: number; pids: number[]; confinement: Confinement }
  | { type: 'ready'; child: number }
  | { type: 'loaded'; child: number; message: LoadedMessage }
  | { type: 'request'; child: number; call: number; message: RequestMessage }
  | { type: 'meter'; child: number; rss_bytes: number; running: number; isolates: number }
  /** Comes before the reports of the calls that end with the child. `closed` follows when the child is gone. */
  | ({ type: 'dying'; child: number } & ChildDeath)
  /** The last news of a child; `stderr` is the last bytes of the child's standard error. */
  | ({ type: 'closed'; child: number; stderr: string } & ChildDeath);

/** What all supervisors of one driver thread share. */
export interface SupervisorSurroundings {
  readonly door: ChildDoor;
  /** The links whose children have to wait, see {@link ChildLink}. */
  readonly throttled: Set<ChildLink>;
  /** The frame that a child begins with, see {@link bootFrame}. */
  readonly boot: (journal: boolean) => Buffer;
  readonly confinement: Confinement;
  /** Whether the system lets the service raise the priority of a process that it has lowered. */
  readonly comesBack: boolean;
  readonly post: (news: ChildNews) => void;
  /** Sends a message to the thread that has the child's process. */
  readonly order: (message: ToDriverMessage) => void;
}

/** The frame that a child begins with. It has the text of the guest runtime. */
export function bootFrame(runtime: string, journal: boolean): Buffer {
  const boot: BootMessage = { protocol: PROTOCOL_VERSION, journal, runtime };
  return encodeFrame(DOWN.BOOT, NO_CALL, JSON.stringify(boot));
}

/** A child that leaves more than this unread gets no further calls. If an answer is due, the child has to go. */
const MAX_BACKLOG_BYTES = 4 * FIXED_LIMITS.down_frame_bytes;
/** How many calls that are over for the service a child may hold on to. A busy child lets go of them late. */
const MAX_HELD_CALLS = 4096;
/** How often the host gets the child's memory while calls run, in milliseconds. */
const METER_MS = 250;
const MIB = 1_048_576;

/** How long a dead child's channel may take to end, in milliseconds. Another process might hold its other end. */
const DRAIN_MS = 500;
/**
 * How long a child may live on after it closed its channel, in milliseconds. A dying child closes its channel first.
 */
const MUTE_MS = 1000;

/**
 * Runs one child on the host's loop: feeds it, judges its frames, and has it killed when it has to go. A driver thread
 * starts and kills its process, samples the process's memory and time, and parses the frames that are too large for the
 * loop. Everything known of the child comes from its frames, the clock and the operating system. None of its claims is
 * taken as true.
 */
export class ChildSupervisor {
  readonly #number: number;
  readonly #around: SupervisorSurroundings;
  readonly #link: ChildLink;
  readonly #limits: ChildLimits;
  readonly #versions = new LoadedVersions();
  readonly #inFlight = new BytesInFlight();
  readonly #deadlines = new Deadlines((now) => this.#dropDue(now));
  /** Calls that the child has not let go of, including those whose report was sent. */
  readonly #calls = new CallTable<RunningCall>();
  /** How many of them are those. */
  #held = 0;
  readonly #watch: ProcessWatch = { busy: true, most_bytes: 0, group_nice: 0, process_nice: 0 };
  /** What the thread has. */
  #sentWatch: ProcessWatch;
  #pids: number[] = [];
  #ready = false;
  #announced = false;
  #isolates = 0;
  #looking = false;
  #meteredAt = 0;
  #hasEnded = false;
  #gone = false;
  /** The call of the large frame that is being parsed. */
  #parsing = NO_CALL;
  #exit: ChildExit | null = null;
  #ending: ChildDeath | null = null;

  /** @param journal the child's journal, if it has one; closed with the child */
  constructor(child: number, around: SupervisorSurroundings, journal?: JournalReader) {
    this.#number = child;
    this.#around = around;
    const watch = this.#watch;
    this.#limits = new ChildLimits({
      comesBack: around.comesBack,
      setGroup: (nice) => {
        watch.group_nice = nice;
      },
      setProcess: (nice) => {
        watch.process_nice = nice;
      },
    });
    this.#link = new ChildLink(
      {
        onFrame: (kind, call, text) => this.#onFrame(kind, call, text),
        onLargeFrame: (kind, call, payload) => {
          this.#parsing = call;
          if (kind === UP.RETURNED) this.#onLargeReturn(call, performance.now());
          around.order({ type: 'parse', child, kind, payload });
        },
        onError: (error) => this.#end('protocol', error.message, this.#limits.suspect),
        onEnd: () => this.#onChannelEnd(),
      },
      around.throttled,
      journal,
    );
    watch.most_bytes = this.#versions.limits.process_mb * MIB;
    this.#sentWatch = { ...watch };
    around.door.expect(child, (socket) => this.#link.attach(socket));
    this.#link.sendFrame(around.boot(journal !== undefined));
    around.order({ type: 'open', child, journal_fd: journal?.fd ?? null, watch: this.#sentWatch });
  }

  /** Acts on what the thread says of the child's process. */
  receive(message: FromDriverMessage): void {
    switch (message.type) {
      case 'sample':
        this.#pids = message.pids;
        // The thread has killed it already, and news of its end may come within these turns.
        if (message.rss_bytes > this.#sentWatch.most_bytes) {
          return this.#look(performance.now(), message.rss_bytes, message.taken_ms);
        }
        return this.#lookSoon(message.rss_bytes, message.taken_ms);
      case 'parsed':
        return this.#onParsed(message.frame);
      case 'failed':
        return this.#end('start', message.detail, this.#limits.suspect);
      case 'gone':
        return this.#onExit(message);
      default:
        return message satisfies never;
    }
  }

  /** The thread has ended, and nothing is known of the process any more. Its calls end; nothing more is posted. */
  abandon(): void {
    this.#ending ??= { cause: 'died', detail: 'its driver thread ended', culprit: NO_CALL };
    this.#around.door.forget(this.#number);
    this.#link.close();
    this.#deadlines.close();
    for (const call of this.#calls.values()) call.end(judgeCallOnChildDeath('died', false, call.limits, false));
    this.#calls.clear();
  }

  /** Gives the child a plugin version; `loaded` or `closed` follows. */
  load(version: PluginVersion): void {
    if (this.#ending !== null) return;
    this.#begin();
    this.#limits.account.load(version.limits);
    this.#versions.expect(version);
    this.#watch.most_bytes = this.#versions.limits.process_mb * MIB;
    this.#sendWatch();
    this.#link.send(DOWN.LOAD, NO_CALL, JSON.stringify(version));
  }

  /** Runs one call. The promise always resolves with a report. */
  run(task: CallTask): Promise<CallReport> {
    return new Promise((resolve) => {
      const version = this.#versions.find(task.version);
      if (this.#ending !== null || version === undefined || this.#link.backlogBytes > MAX_BACKLOG_BYTES) {
        resolve(callNotStartedReport());
        return;
      }
      if (version.failure !== null) {
        resolve(reportWithout(version.failure.outcome, false, version.failure.report));
        return;
      }
      const share = this.#limits.account.begin(version.limits);
      const call = new RunningCall(task, version.limits, this.#inFlight, share, resolve);
      this.#begin();
      this.#calls.set(task.call, call);
      this.#deadlines.add(call.dueAt);
      const { durable } = task;
      const start = durable === undefined ? '' : ` ${durable.seed} ${durable.now}`;
      this.#link.send(DOWN.INVOKE, task.call, `${task.version}${start}\n${task.context}`);
    });
  }

  /** Passes the host's answer to a capability call down to the child. An answer that comes late is dropped. */
  reply(id: number, message: ReplyMessage): void {
    const call = this.#calls.get(id);
    if (call === undefined || call.settled || !call.answered(message.id)) return;
    if (this.#link.backlogBytes > MAX_BACKLOG_BYTES) return this.#end('protocol', 'it reads no answers', NO_CALL);
    const text = JSON.stringify(message);
    call.sent(Buffer.byteLength(text));
    this.#link.send(DOWN.REPLY, id, text);
  }

  /** The client has left. Safe to call after the call's end. */
  cancel(id: number): void {
    const call = this.#calls.get(id);
    if (call !== undefined) this.#drop(call, 'CANCELED', 'The client closed the request');
  }

  /** Ends the calls that are due. Returns when the others are. */
  #dropDue(now: number): number[] {
    const waiting = [...this.#calls.values()].filter(({ settled }) => !settled);
    for (const call of waiting) {
      if (call.dueAt > now) continue;
      this.#drop(call, 'TIMEOUT', `Plugin execution timed out after ${call.task.timeout_ms / 1000} seconds`);
    }
    return waiting.filter(({ settled }) => !settled).map(({ dueAt }) => dueAt);
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
    this.#watch.busy = true;
    if (!this.#sentWatch.busy) this.#sendWatch();
  }

  #sendWatch(): void {
    this.#sentWatch = { ...this.#watch };
    this.#around.order({ type: 'watch', child: this.#number, watch: this.#sentWatch });
  }

  #onFrame(kind: number, id: number, text: string): void {
    if (this.#ending !== null) return;
    const now = performance.now();
    this.#limits.heartbeat.beat(now);
    switch (kind) {
      case UP.ENTER:
        if (id !== NO_CALL) this.#callOf(id).begun = true;
        return this.#limits.heartbeat.enter(id, now);
      case UP.LEAVE:
        return this.#onLeave(id, now);
      case UP.RETURNED:
        this.#onLeave(id, now);
        return this.#onPayload(parseFrame(kind, text), id);
      default:
        return this.#onPayload(parseFrame(kind, text), id);
    }
  }

  /** @throws ProtocolViolation */
  #onLeave(id: number, now: number): void {
    const ms = this.#limits.left(id, now);
    if (id !== NO_CALL) this.#callOf(id).ran(ms);
  }

  /** Of a large result, LEAVE may have come ahead. @throws ProtocolViolation */
  #onLargeReturn(id: number, now: number): void {
    if (this.#limits.heartbeat.entered !== null) return this.#onLeave(id, now);
    if (!this.#callOf(id).begun) throw new ProtocolViolation(`call ${id} has returned and never ran`);
  }

  /** The thread has parsed a frame that was too large. */
  #onParsed(frame: ParsedFrame): void {
    if (this.#ending !== null) return;
    this.#limits.heartbeat.beat(performance.now());
    this.#link.goOn(() => this.#onPayload(frame, this.#parsing));
  }

  /** @throws ProtocolViolation */
  #onPayload(frame: ParsedFrame, id: number): void {
    switch (frame.kind) {
      case UP.REQUEST:
        return this.#onRequest(this.#insideOf(id), frame);
      case UP.LOG: {
        const call = this.#insideOf(id);
        return call.settled ? call.late() : call.log(frame.entry, frame.bytes);
      }
      case UP.DONE:
      case UP.RETURNED:
        return this.#onDone(this.#callOf(id), frame.message);
      case UP.LOADED:
        return this.#onLoaded(frame.message);
      case UP.READY:
        return this.#onReady(frame.message);
      case UP.ISOLATES:
        this.#isolates = frame.isolates;
        return this.#limits.account.made();
      case 'violation':
        throw new ProtocolViolation(frame.detail);
      default:
        return frame satisfies never;
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

  #onReady({ protocol }: ReadyMessage): void {
    if (this.#ready || protocol !== PROTOCOL_VERSION) throw new ProtocolViolation('READY came at the wrong time');
    this.#ready = true;
    // The sample has the ids of all its processes.
    this.#around.order({ type: 'sample', child: this.#number });
  }

  #announce(): void {
    this.#announced = true;
    const { post, confinement } = this.#around;
    post({ type: 'spawned', child: this.#number, pids: this.#pids, confinement });
    post({ type: 'ready', child: this.#number });
  }

  #onLoaded(message: LoadedMessage): void {
    this.#versions.answered(message);
    if (!this.#versions.loading) this.#limits.account.loaded();
    this.#link.mostBytes = childPayloadLimits({ result_bytes: this.#versions.resultBytes });
    this.#around.post({ type: 'loaded', child: this.#number, message });
  }

  #onRequest(call: RunningCall, { message, refusal, bytes }: Extract<ParsedFrame, { kind: typeof UP.REQUEST }>): void {
    if (call.settled) return call.late();
    const admission = call.request(message.id, bytes, message.method);
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
        if (refusal !== null) return this.#refuse(call, message.id, refusal);
        return this.#around.post({ type: 'request', child: this.#number, call: call.task.call, message });
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

  #onDone(call: RunningCall, { outcome, usage, dropped_logs: droppedLogs, isolates }: DoneMessage): void {
    if (this.#limits.heartbeat.entered === call.task.call) throw new ProtocolViolation('DONE before LEAVE');
    if (outcome.kind === 'ended' && outcome.code === 'CANCELED' && !call.settled) {
      throw new ProtocolViolation('a call was dropped that nobody had dropped');
    }
    this.#isolates = isolates;
    if (call.settled) this.#held -= 1;
    this.#calls.delete(call.task.call);
    this.#limits.ended(call.task.call, call.share);
    call.done(outcome, usage, droppedLogs);
  }

  /** Ends a call for the service at once. The child reads the message about it when it next reads its channel. */
  #drop(call: RunningCall, code: DropCode, message: string, lost = false): void {
    if (call.settled) return;
    call.end({ code, message, lost });
    this.#held += 1;
    if (this.#held > MAX_HELD_CALLS)
      return this.#end('protocol', `it holds on to ${this.#held} calls that are over`, NO_CALL);
    this.#link.send(DOWN.END, call.task.call, '');
  }

  /**
   * Looks after two turns of the loop: a loop that was held up first reads what the child has sent, then judges it.
   */
  #lookSoon(rssBytes: number, takenMs: number): void {
    if (this.#looking) return;
    this.#looking = true;
    setImmediate(() =>
      setImmediate(() => {
        this.#looking = false;
        this.#look(performance.now(), rssBytes, takenMs);
      }),
    );
  }

  #look(now: number, rssBytes: number, takenMs: number): void {
    if (this.#ending !== null) return;
    this.#link.look();
    if (this.#ending !== null) return;
    const { limits } = this.#versions;
    const death = this.#limits.look({
      ...{ now, rssBytes, takenMs, limits },
      ready: this.#ready,
      hasUnread: this.#link.isHeld,
      owesASign: this.#owesASign(),
    });
    if (death !== null) return this.#end(death.cause, death.detail, death.culprit);
    if (this.#ready && !this.#announced) this.#announce();
    this.#watch.busy = this.#isBusy();
    if (isDifferent(this.#watch, this.#sentWatch)) this.#sendWatch();

    if (now - this.#meteredAt < METER_MS) return;
    this.#meteredAt = now;
    const shares = Array.from(this.#calls.values(), ({ share }) => share);
    const overspent = this.#limits.overspent(now, takenMs, shares);
    if (overspent !== null) return this.#end(overspent.cause, overspent.detail, overspent.culprit);
    // Each call that has begun has an isolate. A busy child reports its new isolates late.
    const begun = this.#calls.values().reduce((count, call) => (call.begun ? count + 1 : count), 0);
    const isolates = Math.max(this.#isolates, begun);
    this.#around.post({
      type: 'meter',
      child: this.#number,
      rss_bytes: rssBytes,
      running: this.#calls.size,
      isolates,
    });
  }

  /**
   * Whether an honest child would send something soon: it has something to read, a frame to end, a call to begin, or a
   * finished call to let go of.
   */
  #owesASign(): boolean {
    if (!this.#ready) return false;
    if (this.#versions.loading || this.#link.holding || this.#link.backlogBytes > 0) return true;
    return this.#calls.values().some((call) => !call.begun || call.settled);
  }

  /** Kills the child and ends its calls. Later reasons do not replace the first. */
  #end(cause: ChildDeath['cause'], detail: string, culprit: number): void {
    if (this.#ending !== null) return;
    this.#link.mute();
    this.#around.order({ type: 'kill', child: this.#number });
    this.#endCalls({ cause, detail, culprit }, false);
  }

  #endCalls(ending: ChildDeath, memory: boolean): void {
    const { cause, culprit } = ending;
    this.#ending = ending;
    // Sent before the reports: the host may repeat a call as soon as it gets its report, and must already know the
    // culprit.
    this.#around.post({ type: 'dying', child: this.#number, ...ending });
    for (const call of this.#calls.values()) {
      call.end(judgeCallOnChildDeath(cause, call.task.call === culprit, call.limits, memory));
    }
    this.#calls.clear();
  }

  #onChannelEnd(): void {
    this.#hasEnded = true;
    if (this.#exit !== null) return this.#onGone(this.#exit);
    const late = () => this.#exit ?? this.#end('protocol', 'it closed its channel and lives on', this.#limits.suspect);
    setTimeout(late, MUTE_MS).unref();
  }

  /** The process has ended. Its last words may still be on their way. */
  #onExit(exit: ChildExit): void {
    this.#exit = exit;
    if (this.#hasEnded || this.#ending !== null || !this.#link.isAttached) return this.#onGone(exit);
    setTimeout(() => this.#onGone(exit), DRAIN_MS).unref();
  }

  #onGone(exit: ChildExit): void {
    if (this.#gone) return;
    this.#gone = true;
    if (this.#ending === null) this.#link.look();
    this.#around.door.forget(this.#number);
    this.#link.close();
    this.#deadlines.close();
    const ending = this.#ending ?? this.#deathOf(exit);
    if (this.#ending === null) this.#endCalls(ending, diedOfMemory(exit));
    this.#around.post({ type: 'closed', child: this.#number, ...ending, stderr: exit.stderr });
  }

  #deathOf(gone: ChildExit): ChildDeath {
    const culprit = diedInsideGuest(gone) ? this.#limits.suspect : NO_CALL;
    const detail = `it died of ${gone.signal ?? `exit code ${gone.code}`}`;
    return { cause: this.#ready ? 'died' : 'start', detail, culprit };
  }
}

function isDifferent(one: ProcessWatch, other: ProcessWatch): boolean {
  return (
    one.busy !== other.busy ||
    one.most_bytes !== other.most_bytes ||
    one.group_nice !== other.group_nice ||
    one.process_nice !== other.process_nice
  );
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

/** What the host keeps of a version after the child has its code. */
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
