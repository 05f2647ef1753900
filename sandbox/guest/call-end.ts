import type { EndCode, Outcome } from '../protocol.ts';
import { describeFailure } from './failure.ts';
import type { HostLink } from './host-link.ts';
import { toJsonText } from './json-text.ts';
import { formatValue } from './log-line.ts';

const LONGEST_REPORT = 4096;

/** The end of the running call: the first one counts, and is sent at once. */
export class CallEnd {
  readonly #link: HostLink;
  #open = false;
  #resultBytes = 0;

  constructor(link: HostLink) {
    this.#link = link;
  }

  /** True while a call runs that has not ended. */
  get open(): boolean {
    return this.#open;
  }

  /** Opens a call whose result may have `resultBytes` bytes of JSON text. */
  begin(resultBytes: number): void {
    this.#open = true;
    this.#resultBytes = resultBytes;
  }

  /** Ends with what the handler returned; a getter or `toJSON` of it that throws is the plugin's throw. */
  returned(value: unknown): void {
    if (!this.#open) return;
    try {
      const json = toJsonText(value, 'result', this.#resultBytes);
      if (json.ok) this.#send({ kind: 'returned', json: json.text });
      else if (json.fault === 'shape') this.ended('RESULT_NOT_SERIALIZABLE', json.message);
      else this.ended('RESULT_TOO_LARGE', `${json.message} (limits.result_bytes)`);
    } catch (error) {
      this.threw(error);
    }
  }

  /** Ends with what the plugin threw, whatever it is. */
  threw(thrown: unknown): void {
    if (!this.#open) return;
    const { outcome, droppedDetails } = describeFailure(thrown, this.#resultBytes);
    if (droppedDetails !== null) this.#link.log('warn', `The error's details were dropped: ${droppedDetails}`);
    this.#send(outcome);
  }

  ended(code: EndCode, message: string): void {
    this.#send({ kind: 'ended', code, message });
  }

  /** What escaped from a timer or a microtask: it ends the running call; with none running it is only logged. */
  uncaught(thrown: unknown): void {
    if (this.#open) this.threw(thrown);
    else this.#link.log('error', `Uncaught ${formatValue(thrown, LONGEST_REPORT)}`);
  }

  #send(outcome: Outcome): void {
    if (!this.#open) return;
    this.#open = false;
    this.#link.done(outcome);
  }
}
