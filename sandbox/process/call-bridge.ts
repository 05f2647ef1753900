import { type CallOutcome, FIXED_LIMITS, type Limits, TIMER_REQUEST } from '../contract.ts';
import type { HostFunction, HostOp, UrlParts, UrlQuestion } from '../guest/host-function.ts';
import { logBytes, UP } from '../protocol.ts';
import { sliceLimit } from './call-ends.ts';
import type { Channel } from './channel.ts';
import { OpenCiphers } from './crypto/ciphers.ts';
import { answerCryptoQuestion, type CryptoResources } from './crypto/crypto-answer.ts';
import { CallJobs, type CryptoJobQueue } from './crypto/jobs.ts';
import { SeededChance } from './crypto/seeded.ts';
import { nodeCrypto } from './node-builtins.ts';

const RANDOM_BYTES = 65_536;
/**
 * Longest delay of a timer, in milliseconds: Node fires longer ones at once. For a call, a month is as good as never.
 */
const MAX_DELAY_MS = 2 ** 31 - 1;
const OVER = 'the call is over';
const TOO_MANY = `more than ${FIXED_LIMITS.pending_requests} capability calls are waiting for their answers`;
/** How long answering one question outside calls may take, in milliseconds: a part of the time to evaluate a module. */
const OUTSIDE_MS = FIXED_LIMITS.evaluate_ms / 2;

/** The call on whose behalf an isolate runs. */
export interface BridgedCall {
  readonly id: number;
  readonly limits: Limits;
  /** Enters the guest because the timer `id` is due. */
  fire(id: number): void;
  /** The seed of a durable call. */
  readonly seed?: string | undefined;
  /** Time left of the guest's present stretch, in milliseconds. */
  leftMs(): number;
  /** Processor time that the call may still take, in milliseconds. */
  leftCpuMs(): number;
  /**
   * Enters the guest with the result of a job that ran for `ms` milliseconds. `reply` is the text of a `ReplyMessage`.
   */
  jobDone(reply: string, ms: number): void;
}

/** The beginning of the text of a log entry for an uncaught error. */
const UNCAUGHT = 'uncaught ';

/** The number at the beginning of the text of a `ReplyMessage`. */
const REPLY_NUMBER = /^\{"id":(\d+)/;

/** Counts the log lines and bytes that a call may still send. */
class LogRoom {
  #lines: number;
  #bytes: number;

  constructor(lines: number, bytes: number) {
    this.#lines = lines;
    this.#bytes = bytes;
  }

  /** Takes room for one line. Returns false when no room is left for it. */
  take(bytes: number): boolean {
    if (this.#lines === 0 || bytes > this.#bytes) return false;
    this.#lines -= 1;
    this.#bytes -= bytes;
    return true;
  }
}

/**
 * Answers the questions that the guest of one running call puts to its {@link HostFunction}. Passes texts on unread
 * where possible: the host parses them, outside this process. Counts everything, so that a guest cannot make this
 * process or the host do unbounded work. The host counts again, as it does not trust this process.
 */
export class HostCallBridge {
  readonly #call: BridgedCall;
  readonly #channel: Channel;
  readonly #timers = new Map<number, NodeJS.Timeout>();
  /** JSON text of what the handler has returned, or of another {@link CallOutcome}: of the first there was. */
  #result: string | null = null;
  #outcome: string | null = null;
  #open = true;
  #announced = false;
  #requests = 0;
  /** Capability calls and jobs that wait for their answers. */
  #pending = 0;
  /** The jobs among them. */
  #pendingJobs = 0;
  readonly #logs = new LogRoom(FIXED_LIMITS.log_lines, FIXED_LIMITS.log_bytes);
  readonly #uncaught = new LogRoom(FIXED_LIMITS.uncaught_lines, FIXED_LIMITS.uncaught_bytes);
  #droppedLogs = 0;
  readonly #room: CryptoResources;
  readonly #jobs: CallJobs;
  /** Of a durable call. */
  readonly #waits: DurableWaits | undefined;

  constructor(call: BridgedCall, channel: Channel, queue: CryptoJobQueue) {
    const { seed, limits } = call;
    this.#call = call;
    this.#channel = channel;
    const chance = seed === undefined ? undefined : new SeededChance(seed, 'call');
    this.#waits = seed === undefined ? undefined : new DurableWaits();
    this.#room = {
      ciphers: new OpenCiphers(),
      chance,
      leftMs: (wantedMs) => {
        const left = Math.floor(call.leftMs());
        if (seed === undefined || wantedMs <= left) return left;
        // A durable call must not see how quick this machine is: what any machine may try ends the call where it is late.
        if (wantedMs <= limits.slice_ms) this.end(sliceLimit(limits));
        return limits.slice_ms;
      },
    };
    this.#jobs = new CallJobs(queue, (id, answer, ms) => {
      if (this.#waits === undefined) return this.#jobDone(id, answer, ms);
      for (const done of this.#waits.jobDone(id, answer, ms)) this.#jobDone(...done);
    });
  }

  #jobDone(id: number, answer: string, ms: number): void {
    this.#pendingJobs -= 1;
    this.#pending -= 1;
    this.#call.jobDone(JSON.stringify({ id, reply: { ok: true, value: answer } }), ms);
  }

  /** Whether jobs wait for their answers. Those of a durable call come before any reply. */
  get hasJobs(): boolean {
    return this.#pendingJobs > 0;
  }

  get hasEnded(): boolean {
    return this.#result !== null || this.#outcome !== null;
  }

  /** JSON text of what the handler has returned; null where the call goes on or has another {@link outcome}. */
  get result(): string | null {
    return this.#result;
  }

  /** JSON text of the call's {@link CallOutcome} when that is no return. */
  get outcome(): string | null {
    return this.#outcome;
  }

  /** Capability calls made so far. */
  get requests(): number {
    return this.#requests;
  }

  /** Log lines beyond the caps. */
  get droppedLogs(): number {
    return this.#droppedLogs;
  }

  /** How long the running job has run, in milliseconds. */
  get jobMs(): number {
    return this.#jobs.runningMs;
  }

  /**
   * True when the guest itself has ended the call and has left no timer and no capability call open. As in Node, an
   * `unref`'d timer keeps nothing going: it is cleared with the call.
   */
  get idle(): boolean {
    return this.#announced && this.#pending === 0 && this.#waitingTimers() === 0;
  }

  /** Ends the call from outside the guest, unless it has ended already. */
  end(outcome: CallOutcome): void {
    if (!this.hasEnded) this.#outcome = JSON.stringify(outcome);
  }

  /**
   * Logs a warning when the handler returned while timers or jobs wait. They do not run any more, and the isolate
   * serves no other call, so the author should know. The host names the capability calls that were left: only it knows
   * what became of them.
   */
  logLeftBehind(): void {
    const timers = this.#waitingTimers();
    const left = [counted(timers, 'timer'), counted(this.#pendingJobs, 'operation of crypto', 'operations of crypto')];
    if (timers + this.#pendingJobs === 0) return;
    const message = `The handler has returned and left ${left.filter(Boolean).join(' and ')} behind, which the call's end has stopped: await or clear what it starts`;
    this.log(`warn ${message}`);
  }

  /** Counts a reply for the guest. Returns false when no request waits for it. `text` is that of a `ReplyMessage`. */
  replied(text: string): boolean {
    if (this.#waits?.answered(Number(REPLY_NUMBER.exec(text)?.[1])) === true) return true;
    if (this.#pending === this.#pendingJobs) return false;
    this.#pending -= 1;
    return true;
  }

  /** Ends the call's contact with the outside: clears its timers and refuses its requests. Safe to call twice. */
  close(): void {
    this.#open = false;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#waits?.close();
    this.#jobs.close();
    this.#room.ciphers.clear();
  }

  /** @throws never */
  answer(op: HostOp, text: string): string {
    switch (op) {
      case 'request':
        return this.#request(text);
      case 'log':
        return this.log(text);
      case 'returned':
        return this.#returned(text);
      case 'done':
        return this.#done(text);
      case 'timer':
        return this.#setTimer(text);
      case 'clear':
        return this.#clearTimer(Number(text));
      case 'ref':
        return this.#holdTimer(text);
      case 'job':
        return this.#job(text);
      default:
        return answerAlways(op, text, this.#room);
    }
  }

  /** Sends one {@link LogEntry}, as `UP.LOG` has it, up at once, so that it survives whatever the guest does next. */
  log(text: string): string {
    if (!this.#open) return '';
    const room = text.startsWith(UNCAUGHT) ? this.#uncaught : this.#logs;
    if (!room.take(logBytes(text))) {
      this.#droppedLogs += 1;
      return '';
    }
    this.#channel.send(UP.LOG, this.#call.id, text);
    this.#channel.save();
    return '';
  }

  #request(text: string): string {
    if (!this.#open || this.hasEnded) return OVER;
    const { calls } = this.#call.limits;
    if (this.#requests >= calls) {
      const message = `The plugin made more than ${calls} capability calls (limits.calls)`;
      this.end({ kind: 'ended', code: 'CALL_LIMIT', message });
      return message;
    }
    if (this.#pending >= FIXED_LIMITS.pending_requests) {
      return TOO_MANY;
    }
    if (Buffer.byteLength(text) > FIXED_LIMITS.request_bytes) {
      return `a capability call may take at most ${FIXED_LIMITS.request_bytes} bytes`;
    }
    this.#requests += 1;
    this.#pending += 1;
    this.#channel.send(UP.REQUEST, this.#call.id, text);
    return '';
  }

  #returned(text: string): string {
    if (!this.#open || this.hasEnded) return '';
    this.#announced = true;
    if (Buffer.byteLength(text) > this.#call.limits.result_bytes) this.#endTooLarge();
    else this.#result = text;
    return '';
  }

  #done(text: string): string {
    if (!this.#open || this.hasEnded) return '';
    this.#announced = true;
    // The details are JSON text inside JSON, and escaping may double their size. The host measures them unescaped.
    const most = 2 * this.#call.limits.result_bytes + FIXED_LIMITS.up_frame_slack_bytes / 2;
    if (Buffer.byteLength(text) > most) this.#endTooLarge();
    else this.#outcome = text;
    return '';
  }

  #endTooLarge(): void {
    const { result_bytes } = this.#call.limits;
    const message = `The result is larger than ${result_bytes} bytes (limits.result_bytes)`;
    this.end({ kind: 'ended', code: 'RESULT_TOO_LARGE', message });
  }

  #setTimer(text: string): string {
    if (!this.#open || this.hasEnded) return OVER;
    const [id = Number.NaN, delay = 0] = text.split(' ').map(Number);
    if (!Number.isSafeInteger(id)) return 'a timer needs a whole number as its id';
    this.#clearTimer(id);
    const armed = this.#waits?.armed ?? this.#timers.size;
    if (armed >= FIXED_LIMITS.timers) return `more than ${FIXED_LIMITS.timers} timers are armed`;
    // This form of the condition makes NaN count as no delay.
    const delayMs = delay >= 1 ? Math.min(delay, MAX_DELAY_MS) : 1;
    if (this.#waits !== undefined) return this.#askForTimer(this.#waits, id, delayMs);
    this.#timers.set(
      id,
      setTimeout(() => {
        this.#timers.delete(id);
        this.#call.fire(id);
      }, delayMs),
    );
    return '';
  }

  /** The host answers a timer of a durable call, so that the answer has its place among all others. */
  #askForTimer(waits: DurableWaits, id: number, delayMs: number): string {
    if (waits.count >= FIXED_LIMITS.durable_timers) {
      const message = `The plugin armed more than ${FIXED_LIMITS.durable_timers} timers in one run of a durable call`;
      this.end({ kind: 'ended', code: 'CALL_LIMIT', message });
      return message;
    }
    waits.ask(id);
    const request = `{"id":${id},"method":"${TIMER_REQUEST}","params":{"ms":${delayMs}}}`;
    this.#channel.send(UP.REQUEST, this.#call.id, request);
    return '';
  }

  #job(text: string): string {
    if (!this.#open || this.hasEnded) return OVER;
    const cut = text.indexOf(' ');
    const id = Number(text.slice(0, cut));
    if (!Number.isSafeInteger(id)) return 'a job needs a whole number as its id';
    if (this.#pending >= FIXED_LIMITS.pending_requests) return TOO_MANY;
    this.#pending += 1;
    this.#pendingJobs += 1;
    const question = text.slice(cut + 1);
    if (this.#waits === undefined) {
      this.#jobs.start(id, question, this.#call.leftCpuMs());
    } else {
      this.#waits.askJob(id);
      this.#jobs.start(id, question, this.#call.limits.cpu_ms, this.#room.chance?.fork());
    }
    return '';
  }

  #clearTimer(id: number): string {
    if (this.#waits !== undefined) {
      this.#waits.clear(id);
      return '';
    }
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    return '';
  }

  #holdTimer(text: string): string {
    const [id = Number.NaN, isHeld] = text.split(' ').map(Number);
    this.#waits?.hold(id, isHeld === 1);
    const timer = this.#timers.get(id);
    if (isHeld === 1) timer?.ref();
    else timer?.unref();
    return '';
  }

  #waitingTimers(): number {
    let waiting = this.#waits?.held ?? 0;
    for (const timer of this.#timers.values()) if (timer.hasRef()) waiting += 1;
    return waiting;
  }
}

/** The timers and jobs of a durable call. */
class DurableWaits {
  /** Timers that the host has not answered, and whether the call is busy while each waits. Null: cleared. */
  readonly #timers = new Map<number, boolean | null>();
  /** Jobs in the order in which they began, and the answers of those that are done. */
  readonly #jobs = new Map<number, readonly [id: number, answer: string, ms: number] | null>();
  /** All timers of this run. */
  count = 0;
  /** Timers that wait, and those of them that keep the call busy. */
  armed = 0;
  held = 0;

  ask(id: number): void {
    this.count += 1;
    this.armed += 1;
    this.held += 1;
    this.#timers.set(id, true);
  }

  hold(id: number, isHeld: boolean): void {
    const before = this.#timers.get(id) ?? null;
    if (before === null || before === isHeld) return;
    this.held += isHeld ? 1 : -1;
    this.#timers.set(id, isHeld);
  }

  clear(id: number): void {
    const isHeld = this.#timers.get(id) ?? null;
    if (isHeld === null) return;
    this.armed -= 1;
    if (isHeld) this.held -= 1;
    this.#timers.set(id, null);
  }

  /** Whether the answer of that number is that of a timer. */
  answered(id: number): boolean {
    this.clear(id);
    return this.#timers.delete(id);
  }

  askJob(id: number): void {
    this.#jobs.set(id, null);
  }

  /** A job is done. Yields the answers whose turn it is: they come in the order in which the jobs began. */
  *jobDone(id: number, answer: string, ms: number): Generator<readonly [id: number, answer: string, ms: number]> {
    this.#jobs.set(id, [id, answer, ms]);
    for (const [first, done] of this.#jobs) {
      if (done === null) return;
      this.#jobs.delete(first);
      yield done;
    }
  }

  close(): void {
    this.#timers.clear();
    this.#jobs.clear();
    this.armed = 0;
    this.held = 0;
  }
}

function counted(count: number, one: string, several = `${one}s`): string {
  return count === 0 ? '' : `${count} ${count === 1 ? one : several}`;
}

/**
 * Answers the questions of an isolate outside calls: when the runtime boots and when a plugin's module is evaluated.
 * @param seed of the durable call for which the module is evaluated
 */
export function hostFunctionOutsideCalls(seed?: string): HostFunction {
  const chance = seed === undefined ? undefined : new SeededChance(seed, 'module');
  const room: CryptoResources = { ciphers: new OpenCiphers(), chance, leftMs: () => OUTSIDE_MS };
  return (op, text) => {
    switch (op) {
      case 'request':
        return 'capabilities work only while a call runs';
      case 'timer':
        return 'timers work only while a call runs';
      case 'job':
        return 'this works only while a call runs; use the form that ends in Sync';
      case 'log':
      case 'returned':
      case 'done':
      case 'clear':
      case 'ref':
        return '';
      default:
        return answerAlways(op, text, room);
    }
  };
}

function answerAlways(op: HostOp, text: string, room: CryptoResources): string {
  switch (op) {
    case 'random':
      return randomText(Number(text), room.chance);
    case 'url':
      return answerUrlQuestion(text);
    case 'crypto':
      return answerCryptoQuestion(text, room);
    default:
      return `no such operation: ${op}`;
  }
}

function randomText(bytes: number, chance: SeededChance | undefined): string {
  if (!(bytes > 0 && bytes <= RANDOM_BYTES)) return '';
  const count = Math.floor(bytes);
  return (chance?.bytes(count) ?? nodeCrypto().randomFillSync(Buffer.allocUnsafe(count))).toString('latin1');
}

const PARTS = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const satisfies readonly (keyof UrlParts)[];

/**
 * Answers the guest's `URL` with Node's own parser of the WHATWG URL standard.
 * @returns JSON text of {@link UrlParts}, or `""` when the question or the URL is invalid
 */
export function answerUrlQuestion(text: string): string {
  try {
    const url = resolve(JSON.parse(text) as UrlQuestion);
    return JSON.stringify(Object.fromEntries(PARTS.map((part) => [part, url[part]])));
  } catch {
    return '';
  }
}

function resolve(question: UrlQuestion): URL {
  if ('url' in question) return new URL(question.url, question.base);
  const url = new URL(question.href);
  const part = PARTS.find((name) => name === question.set);
  if (part !== undefined && part !== 'origin') url[part] = question.value;
  return url;
}
