import type { LogEntry, Outcome } from '../protocol.ts';
import type { HostFunction, UrlParts } from './host-function.ts';
import { enumerableKeys, parseJson, quote } from './intrinsics/primordials.ts';
import type { CryptoQuestion } from './node/crypto/crypto-question.ts';
import type { PartName } from './part-name.ts';

/**
 * The guest's side of the one function it was given: builds each text by hand from quoted strings, because
 * JSON.stringify on an object would ask `Object.prototype.toJSON`, which a plugin may have set.
 */
export class HostLink {
  readonly #host: HostFunction;

  constructor(host: HostFunction) {
    this.#host = host;
  }

  log(level: LogEntry['level'], message: string): void {
    this.#host('log', `{"level":${quote(level)},"message":${quote(message)}}`);
  }

  done(outcome: Outcome): void {
    this.#host('done', outcomeText(outcome));
  }

  /** Says that code of an ended call is still there: the isolate serves no other call. */
  retire(): void {
    this.#host('retire', '');
  }

  /**
   * Sends a capability call; `params` is JSON text, and so is the parameter `value` that comes behind it. Answers with
   * `""`, or with why it was not taken.
   */
  request(id: number, method: string, params: string, value: string | undefined): string {
    const message = `{"id":${id},"method":${quote(method)},"params":${params}}`;
    return this.#host('request', value === undefined ? message : `${message}\n${value}`);
  }

  /** Asks to be woken for timer `id` after a delay in milliseconds. Answers with `""`, or with why not. */
  arm(id: number, delayMs: number): string {
    return this.#host('timer', `${id} ${delayMs}`);
  }

  disarm(id: number): void {
    this.#host('clear', `${id}`);
  }

  /** At most 65536 random bytes, as characters of code 0 to 255. */
  random(bytes: number): string {
    return this.#host('random', `${bytes}`);
  }

  parseUrl(url: string, base: string | undefined): UrlParts | null {
    return this.#url(base === undefined ? `{"url":${quote(url)}}` : `{"url":${quote(url)},"base":${quote(base)}}`);
  }

  /** The URL after one of its parts was set, or null when the new value was refused. */
  changeUrl(href: string, part: keyof UrlParts, value: string): UrlParts | null {
    return this.#url(`{"href":${quote(href)},"set":${quote(part)},"value":${quote(value)}}`);
  }

  /** Milliseconds since the isolate began, with a fraction. */
  now(): number {
    return +this.#host('now', '');
  }

  /** The text of a part of the runtime. */
  part(name: PartName): string {
    return this.#host('part', name);
  }

  /** The answer as {@link CryptoQuestion} says. */
  crypto(question: CryptoQuestion): string {
    return this.#host('crypto', stringifyFlat(question));
  }

  /** Has job `id` done beside the guest. Answers with `""`, or with why not. */
  job(id: number, question: CryptoQuestion): string {
    return this.#host('job', `${id} ${stringifyFlat(question)}`);
  }

  #url(question: string): UrlParts | null {
    const answer = this.#host('url', question);
    return answer === '' ? null : (parseJson(answer) as UrlParts);
  }
}

/** JSON text of an object of texts and numbers; what is undefined is left out. */
function stringifyFlat(question: CryptoQuestion): string {
  const fields = question as unknown as Record<string, string | number | undefined>;
  const names = enumerableKeys(fields);
  let text = '';
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const value = fields[name];
    if (value === undefined) continue;
    text += `${text === '' ? '{' : ','}${quote(name)}:${typeof value === 'number' ? value : quote(value)}`;
  }
  return `${text}}`;
}

/** An outcome's JSON text. */
export function outcomeText(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'returned':
      return `{"kind":"returned","json":${quote(outcome.json)}}`;
    case 'threw': {
      const { message, code, status, details } = outcome;
      return `{"kind":"threw","message":${quote(message)},"code":${quote(code)},"status":${status},"details":${quote(details)}}`;
    }
    case 'ended':
      return `{"kind":"ended","code":${quote(outcome.code)},"message":${quote(outcome.message)}}`;
  }
}
