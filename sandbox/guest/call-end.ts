import type { CallOutcome, EndCode } from '../contract.ts';
import { UngrantedEnvironmentReads } from './environment-reads.ts';
import { describeFailure, isPluginErrorValue } from './failure.ts';
import type { HostLink } from './host-link.ts';
import { toJsonText } from './json-text.ts';
import { uncaughtLine } from './log-line.ts';

/** An error with a lower status is an answer that the plugin meant to give. */
const MIN_UNMEANT_STATUS = 500;

/**
 * Ends the running call. The first outcome counts and is sent at once. Code of an ended call may still run while the
 * isolate serves a later call. So each call has a number, and an outcome with another number is ignored.
 */
export class CallEnd {
  readonly #link: HostLink;
  readonly #environment: UngrantedEnvironmentReads;
  #open = false;
  #number = 0;
  #resultBytes = 0;
  #handled: (thrown: unknown) => boolean = () => false;

  constructor(link: HostLink, environment: UngrantedEnvironmentReads = new UngrantedEnvironmentReads()) {
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

  /**
   * Ends a call with the handler's return value. If a getter or `toJSON` of that value throws, the plugin has thrown.
   */
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

  /** Ends a call with the value that its handler threw, of any type. The log gets the stack. */
  threw(call: number, thrown: unknown): void {
    if (!this.isOpen(call)) return;
    const { outcome, droppedDetails } = describeFailure(thrown, this.#resultBytes);
    if (droppedDetails !== null) this.#link.log('warn', `The error's details were dropped: ${droppedDetails}`);
    if (outcome.status < MIN_UNMEANT_STATUS) {
      // Other errors with such a status may be a library's, of an exchange that the author knows nothing of.
      if (!isPluginErrorValue(thrown)) this.#link.log('error', uncaughtLine(thrown));
      this.#send(outcome);
      return;
    }
    const hint = this.#environment.hint(outcome.message);
    this.#link.log('uncaught', uncaughtLine(thrown, hint));
    outcome.message += hint;
    this.#send(outcome);
  }

  /**
   * Ends the running call while its handler still runs. Retires the isolate, so that the handler's code meets no other
   * call.
   */
  cut(code: EndCode, message: string): void {
    this.#link.retire();
    this.#ended(code, message);
  }

  /** Sets the function that gets each uncaught value. It returns whether it has handled the value. */
  listen(handled: (thrown: unknown) => boolean): void {
    this.#handled = handled;
  }

  /**
   * Takes an error that escaped from a timer or a microtask. Ends the running call. When no call runs, it only logs the
   * error.
   */
  uncaught(thrown: unknown): void {
    try {
      if (this.#handled(thrown)) return;
    } catch {
      // A handler that throws has not handled the error.
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

  #send(outcome: CallOutcome): void {
    if (!this.#open) return;
    this.#open = false;
    this.#environment.report((name) => this.#link.log('ungranted', name));
    this.#link.done(outcome);
  }
}
