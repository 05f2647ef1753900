import { type CallOutcome, FIXED_LIMITS, type Limits } from '../contract.ts';
import type { HostFunction, HostOp, UrlParts, UrlQuestion } from '../guest/host-function.ts';
import { UP } from '../protocol.ts';
import type { Channel } from './channel.ts';
import { OpenCiphers } from './crypto/ciphers.ts';
import { answerCryptoQuestion, type CryptoResources } from './crypto/crypto-answer.ts';
import { CallJobs, type CryptoJobQueue } from './crypto/jobs.ts';
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
const UNCAUGHT = '{"level":"uncaught",';

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
 * where possible: the driver parses them, outside this process. Counts everything, so that a guest cannot make this
 * process or the driver do unbounded work. The driver counts again, as it does not trust this process.
 */
export class HostCallBridge {
  readonly #call: BridgedCall;
  readonly #channel: Channel;
  readonly #timers = new Map<number, NodeJS.Timeout>();
  /** JSON text of the call's {@link CallOutcome}, or null while it has none. Later outcomes do not replace the first. */
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

  constructor(call: BridgedCall, channel: Channel, queue: CryptoJobQueue) {
    this.#call = call;
    this.#channel = channel;
    this.#room = { ciphers: new OpenCiphers(), leftMs: () => call.leftMs() };
    this.#jobs = new CallJobs(queue, (id, answer, ms) => {
      this.#pendingJobs -= 1;
      if (this.replied()) call.jobDone(JSON.stringify({ id, reply: { ok: true, value: answer } }), ms);
    });
  }

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
    this.#outcome ??= JSON.stringify(outcome);
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
    this.log(JSON.stringify({ level: 'warn', message }));
  }

  /** Counts a reply for the guest. Returns false when no request waits for a reply. */
  replied(): boolean {
    if (this.#pending === 0) return false;
    this.#pending -= 1;
    return true;
  }

  /** Ends the call's contact with the outside: clears its timers and refuses its requests. Safe to call twice. */
  close(): void {
    this.#open = false;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
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

  /** Sends the text of one {@link LogEntry} up at once, so that it survives whatever the guest does next. */
  log(text: string): string {
    if (!this.#open) return '';
    const room = text.startsWith(UNCAUGHT) ? this.#uncaught : this.#logs;
    if (!room.take(Buffer.byteLength(text))) {
      this.#droppedLogs += 1;
      return '';
    }
    this.#channel.send(UP.LOG, this.#call.id, text);
    this.#channel.save();
    return '';
  }

  #request(text: string): string {
    if (!this.#open || this.#outcome !== null) return OVER;
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

  #done(text: string): string {
    if (!this.#open || this.#outcome !== null) return '';
    this.#announced = true;
    const { result_bytes } = this.#call.limits;
    // Here the result is JSON text inside JSON, and escaping may double its size. The driver measures it unescaped.
    if (Buffer.byteLength(text) > 2 * result_bytes + FIXED_LIMITS.up_frame_slack_bytes / 2) {
      this.end({
        kind: 'ended',
        code: 'RESULT_TOO_LARGE',
        message: `The result is larger than ${result_bytes} bytes (limits.result_bytes)`,
      });
    } else {
      this.#outcome = text;
    }
    return '';
  }

  #setTimer(text: string): string {
    if (!this.#open || this.#outcome !== null) return OVER;
    const [id = Number.NaN, delay = 0] = text.split(' ').map(Number);
    if (!Number.isSafeInteger(id)) return 'a timer needs a whole number as its id';
    this.#clearTimer(id);
    if (this.#timers.size >= FIXED_LIMITS.timers) return `more than ${FIXED_LIMITS.timers} timers are armed`;
    // This form of the condition makes NaN count as no delay.
    const delayMs = delay >= 1 ? Math.min(delay, MAX_DELAY_MS) : 1;
    this.#timers.set(
      id,
      setTimeout(() => {
        this.#timers.delete(id);
        this.#call.fire(id);
      }, delayMs),
    );
    return '';
  }

  #job(text: string): string {
    if (!this.#open || this.#outcome !== null) return OVER;
    const cut = text.indexOf(' ');
    const id = Number(text.slice(0, cut));
    if (!Number.isSafeInteger(id)) return 'a job needs a whole number as its id';
    if (this.#pending >= FIXED_LIMITS.pending_requests) return TOO_MANY;
    this.#pending += 1;
    this.#pendingJobs += 1;
    this.#jobs.start(id, text.slice(cut + 1), this.#call.leftCpuMs());
    return '';
  }

  #clearTimer(id: number): string {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    return '';
  }

  #holdTimer(text: string): string {
    const [id = Number.NaN, isHeld] = text.split(' ').map(Number);
    const timer = this.#timers.get(id);
    if (isHeld === 1) timer?.ref();
    else timer?.unref();
    return '';
  }

  #waitingTimers(): number {
    let waiting = 0;
    for (const timer of this.#timers.values()) if (timer.hasRef()) waiting += 1;
    return waiting;
  }
}

function counted(count: number, one: string, several = `${one}s`): string {
  return count === 0 ? '' : `${count} ${count === 1 ? one : several}`;
}

/**
 * Answers the questions of an isolate outside calls: when the runtime boots and when a plugin's module is evaluated.
 */
export function hostFunctionOutsideCalls(): HostFunction {
  const room: CryptoResources = { ciphers: new OpenCiphers(), leftMs: () => OUTSIDE_MS };
  return (op, text) => {
    switch (op) {
      case 'request':
        return 'capabilities work only while a call runs';
      case 'timer':
        return 'timers work only while a call runs';
      case 'job':
        return 'this works only while a call runs; use the form that ends in Sync';
      case 'log':
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
      return randomText(Number(text));
    case 'url':
      return answerUrlQuestion(text);
    case 'crypto':
      return answerCryptoQuestion(text, room);
    default:
      return `no such operation: ${op}`;
  }
}

function randomText(bytes: number): string {
  if (!(bytes > 0 && bytes <= RANDOM_BYTES)) return '';
  return nodeCrypto()
    .randomFillSync(Buffer.allocUnsafe(Math.floor(bytes)))
    .toString('latin1');
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
