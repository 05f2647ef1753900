import type { EndCode, Outcome } from '../protocol.ts';
import { EnvironmentReads } from './environment-reads.ts';
import { describeFailure } from './failure.ts';
import type { HostLink } from './host-link.ts';
import { toJsonText } from './text/json-text.ts';
import { uncaughtLine } from './text/log-line.ts';

/** An answer of a lower status is one that the plugin meant to give. */
const LEAST_UNMEANT_STATUS = 500;

/**
 * The end of the running call: the first one counts, and is sent at once. What an ended call left behind may go on
 * while a later one runs in its isolate, so each call has a number, and only what is of the running one ends it.
 */
export class CallEnd {
  readonly #link: HostLink;
  readonly #environment: EnvironmentReads;
  #open = false;
  #number = 0;
  #resultBytes = 0;
  #handled: (thrown: unknown) => boolean = () => false;

  constructor(link: HostLink, environment: EnvironmentReads = new EnvironmentReads()) {
    this.#link = link;
    this.#environment = environment;
  }

  /** The number of the call that runs or ran last; 0 before the first. */
  get number(): number {
    return this.#number;
  }

  /** True while the call of this number runs and has not ended. */
  isOpen(call: number): boolean {
    return this.#open && call === this.#number;
  }

  /** Opens a call whose result may have `resultBytes` bytes of JSON text. Returns its number. */
  begin(resultBytes: number): number {
    this.#open = true;
    this.#resultBytes = resultBytes;
    this.#environment.begin();
    return ++this.#number;
  }

  /** Ends a call with what its handler returned; a getter or `toJSON` of it that throws is the plugin's throw. */
  returned(call: number, value: unknown): void {
    if (!this.isOpen(call)) return;
    try {
      const json = toJsonText(value, 'result', this.#resultBytes);
      if (json.ok) this.#send({ kind: 'returned', json: json.text });
      else if (json.fault === 'shape') this.#ended('RESULT_NOT_SERIALIZABLE', json.message);
      else this.#ended('RESULT_TOO_LARGE', `${json.message} (limits.result_bytes)`);
    } catch (error) {
      this.threw(call, error);
    }
  }

  /** Ends a call with what its handler threw, whatever it is; the log has its stack. */
  threw(call: number, thrown: unknown): void {
    if (!this.isOpen(call)) return;
    const { outcome, droppedDetails } = describeFailure(thrown, this.#resultBytes);
    if (droppedDetails !== null) this.#link.log('warn', `The error's details were dropped: ${droppedDetails}`);
    if (outcome.status < LEAST_UNMEANT_STATUS) {
      this.#link.log('error', uncaughtLine(thrown));
      this.#send(outcome);
      return;
    }
    const hint = this.#environment.hint(outcome.message);
    this.#link.log('uncaught', uncaughtLine(thrown, hint));
    outcome.message += hint;
    this.#send(outcome);
  }

  /** Ends the running call while its handler goes on: what is left of it must not meet another call. */
  cut(code: EndCode, message: string): void {
    this.#link.retire();
    this.#ended(code, message);
  }

  /** `handled` hears of what nobody caught, and answers whether somebody has dealt with it. */
  listen(handled: (thrown: unknown) => boolean): void {
    this.#handled = handled;
  }

  /** What escaped from a timer or a microtask: it cuts the running call short; with none running it is only logged. */
  uncaught(thrown: unknown): void {
    try {
      if (this.#handled(thrown)) return;
    } catch {
      // A handler that fails has dealt with nothing.
    }
    if (this.#open) {
      this.#link.retire();
      this.threw(this.#number, thrown);
    } else {
      this.#link.log('uncaught', uncaughtLine(thrown));
    }
  }

  #ended(code: EndCode, message: string): void {
    this.#send({ kind: 'ended', code, message });
  }

  #send(outcome: Outcome): void {
    if (!this.#open) return;
    this.#open = false;
    this.#environment.tell((name) => this.#link.log('ungranted', name));
    this.#link.done(outcome);
  }
}
