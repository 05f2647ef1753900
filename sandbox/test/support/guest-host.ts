import type { CallOutcome, CapabilityReply, LogEntry, RequestMessage } from '../../contract.ts';
import type { HostFunction, HostOp } from '../../guest/host-function.ts';
import { parseLog, parseRequest, splitRequestText } from '../../host/child/child-messages.ts';
import { answerUrlQuestion } from '../../process/call-bridge.ts';
import { OpenCiphers } from '../../process/crypto/ciphers.ts';
import { answerCryptoQuestion } from '../../process/crypto/crypto-answer.ts';

/** The host's side of a guest runtime, without processes. It records what the guest sends, and answers from lists. */
export class GuestHost {
  readonly logs: LogEntry[] = [];
  readonly outcomes: CallOutcome[] = [];
  readonly requests: RequestMessage[] = [];
  /** Arithmetic beside the guest, done already. */
  readonly jobs: { id: number; answer: string }[] = [];
  readonly #room = { ciphers: new OpenCiphers(), leftMs: () => 10_000 };
  /** Armed timers, by id, with their delay in milliseconds. */
  readonly timers = new Map<number, number>();
  /** What the guest said of timers: `id 0` after `unref`, `id 1` after `ref`. */
  readonly holds: string[] = [];
  /** What `request` and `timer` answer; a text refuses. */
  refusal = '';
  /** Whether the guest said that the isolate may serve no other call. */
  retired = false;
  /** What `now` answers, in milliseconds. */
  time = 0;
  /** What `random` repeats, as codes of its characters. */
  randomBytes = [0];
  /** Whether each answer of `random` starts at the first code, or continues after the previous answer. */
  beginsAnew = true;
  #drawn = 0;

  readonly call: HostFunction = (op, text) => this.#answer(op, text);

  /** Every log line as `level: message`. */
  get lines(): string[] {
    return this.logs.map(({ level, message }) => `${level}: ${message}`);
  }

  /** The only outcome there may be. */
  get outcome(): CallOutcome | undefined {
    if (this.outcomes.length > 1) throw new Error(`${this.outcomes.length} outcomes`);
    return this.outcomes[0];
  }

  #answer(op: HostOp, text: string): string {
    switch (op) {
      case 'request':
        if (this.refusal === '') this.requests.push(requestOf(text));
        return this.refusal;
      case 'log':
        this.logs.push(parseLog(text));
        return '';
      case 'returned':
        this.outcomes.push({ kind: 'returned', json: text });
        return '';
      case 'done':
        this.outcomes.push(JSON.parse(text) as CallOutcome);
        return '';
      case 'retire':
        this.retired = true;
        return '';
      case 'timer': {
        const [id = 0, delayMs = 0] = text.split(' ').map(Number);
        if (this.refusal === '') this.timers.set(id, delayMs);
        return this.refusal;
      }
      case 'impure':
        return '';
      case 'clear':
        this.timers.delete(Number(text));
        return '';
      case 'ref':
        this.holds.push(text);
        return '';
      case 'random':
        if (this.beginsAnew) this.#drawn = 0;
        return Array.from({ length: Number(text) }, () =>
          String.fromCharCode(this.randomBytes[this.#drawn++ % this.randomBytes.length] ?? 0),
        ).join('');
      case 'url':
        return answerUrlQuestion(text);
      case 'now':
        return String(this.time);
      case 'crypto':
        return answerCryptoQuestion(text, this.#room);
      case 'job': {
        const cut = text.indexOf(' ');
        this.jobs.push({
          id: Number(text.slice(0, cut)),
          answer: answerCryptoQuestion(text.slice(cut + 1), this.#room),
        });
        return this.refusal;
      }
      case 'lazy':
        return '';
    }
  }
}

/** A request as the host's loop hands it on: the text behind the message is its parameter `value`. */
function requestOf(text: string): RequestMessage {
  const { head, value } = splitRequestText(text);
  return parseRequest(head, value);
}

/** The text of a reply to the request of that number. */
export function replyText(id: number, reply: CapabilityReply): string {
  return JSON.stringify({ id, reply });
}
