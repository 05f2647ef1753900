import type { CallFailure, CallOutcome, LogEntry } from '../contract.ts';
import type { HostFunction, UrlParts } from './host-function.ts';
import { enumerableKeys, parseJson, quoteJson } from './intrinsics/primordials.ts';
import type { CryptoQuestion } from './node/crypto/crypto-question.ts';

/**
 * Sends the guest's messages through the host function. Builds each message by hand from quoted strings: JSON.stringify
 * on an object would call `Object.prototype.toJSON`, which a plugin may have set.
 */
export class HostLink {
  readonly #host: HostFunction;

  constructor(host: HostFunction) {
    this.#host = host;
  }

  log(level: LogEntry['level'], message: string): void {
    this.#host('log', `${level} ${message}`);
  }

  done(outcome: CallOutcome): void {
    if (outcome.kind === 'returned') this.#host('returned', outcome.json);
    else this.#host('done', outcomeText(outcome));
  }

  /** Tells the host to give this isolate no other call: a call has left code or changes behind. */
  retire(): void {
    this.#host('retire', '');
  }

  /** Tells the host that the module has read the time or drawn a number while it loaded. */
  impure(): void {
    this.#host('impure', '');
  }

  /**
   * Sends a capability call. `params` is JSON text. So is the parameter `value`, which follows on a line of its own.
   * Returns `""`, or the reason why the host refused the call.
   */
  request(id: number, method: string, params: string, value: string | undefined): string {
    const message = `{"id":${id},"method":${quoteJson(method)},"params":${params}}`;
    return this.#host('request', value === undefined ? message : `${message}\n${value}`);
  }

  /** Asks the host to wake timer `id` after a delay in milliseconds. Returns `""`, or the reason for a refusal. */
  arm(id: number, delayMs: number): string {
    return this.#host('timer', `${id} ${delayMs}`);
  }

  disarm(id: number): void {
    this.#host('clear', `${id}`);
  }

  /** Says whether the call is still busy while timer `id` waits. It is, until told otherwise. */
  hold(id: number, isHeld: boolean): void {
    this.#host('ref', `${id} ${isHeld ? 1 : 0}`);
  }

  /** At most 65536 random bytes, as characters of code 0 to 255. */
  random(bytes: number): string {
    return this.#host('random', `${bytes}`);
  }

  parseUrl(url: string, base: string | undefined): UrlParts | null {
    return this.#url(
      base === undefined ? `{"url":${quoteJson(url)}}` : `{"url":${quoteJson(url)},"base":${quoteJson(base)}}`,
    );
  }

  /** The URL after one of its parts was set, or null when the new value was refused. */
  changeUrl(href: string, part: keyof UrlParts, value: string): UrlParts | null {
    return this.#url(`{"href":${quoteJson(href)},"set":${quoteJson(part)},"value":${quoteJson(value)}}`);
  }

  /** Milliseconds since the isolate began, with a fraction. */
  now(): number {
    return +this.#host('now', '');
  }

  /** The text of a lazy module of the runtime. */
  lazyModule(name: string): string {
    return this.#host('lazy', name);
  }

  /** Returns the answer in the format that {@link CryptoQuestion} describes. */
  crypto(question: CryptoQuestion): string {
    return this.#host('crypto', stringifyFlat(question));
  }

  /** Starts job `id`, which runs beside the guest. Returns `""`, or the reason for a refusal. */
  job(id: number, question: CryptoQuestion): string {
    return this.#host('job', `${id} ${stringifyFlat(question)}`);
  }

  #url(question: string): UrlParts | null {
    const answer = this.#host('url', question);
    return answer === '' ? null : (parseJson(answer) as UrlParts);
  }
}

/** The JSON text of an object of strings and numbers. Leaves undefined fields out. */
function stringifyFlat(question: CryptoQuestion): string {
  const fields = question as unknown as Record<string, string | number | undefined>;
  const names = enumerableKeys(fields);
  let text = '';
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const value = fields[name];
    if (value === undefined) continue;
    text += `${text === '' ? '{' : ','}${quoteJson(name)}:${typeof value === 'number' ? value : quoteJson(value)}`;
  }
  return `${text}}`;
}

/** The JSON text of an outcome other than a return. */
export function outcomeText(outcome: CallFailure): string {
  switch (outcome.kind) {
    case 'threw': {
      const { message, code, status, details } = outcome;
      return `{"kind":"threw","message":${quoteJson(message)},"code":${quoteJson(code)},"status":${status},"details":${quoteJson(details)}}`;
    }
    case 'ended':
      return `{"kind":"ended","code":${quoteJson(outcome.code)},"message":${quoteJson(outcome.message)}}`;
  }
}
