import type { CapabilityReply, FIXED_LIMITS, Json } from '../contract.ts';
import type { CallEnd } from './call-end.ts';
import type { HostLink } from './host-link.ts';
import {
  defineProperty,
  enumerableKeys,
  NativeError,
  NativePromise,
  NativeTypeError,
  quoteJson,
  SafeMap,
  stringSlice,
} from './intrinsics/primordials.ts';
import { toJsonText } from './json-text.ts';
import type { CryptoQuestion } from './node/crypto/crypto-question.ts';
import type { CapabilityContract } from './sdk/capabilities.ts';

/** Writing a value stops at this many bytes, because no larger request can be sent. */
const MAX_REQUEST: (typeof FIXED_LIMITS)['request_bytes'] = 1_048_576;

/** The length of the class name with which a stack without a message begins. */
const NAME_LENGTH = 'Error'.length;

export type Failed = Extract<CapabilityReply, { ok: false }>['error'];

type CapabilityMethod = keyof CapabilityContract;

/** The fields of a capability's parameters, before they are JSON. */
type Fields<M extends CapabilityMethod> = { [F in Exclude<keyof CapabilityContract[M]['params'], 'value'>]: unknown };

/**
 * Converts a reply for the plugin (`accept`, `refuse`), and supplies the parameter that follows the others (`value`).
 */
export interface CapabilityReplyHandling<T> {
  /** The parameter `value`, which the service hands on as JSON text. */
  value?: () => unknown;
  accept?: (value: Json) => T;
  refuse?: (error: Failed) => Error;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly accept: (value: Json) => unknown;
  readonly refuse: (error: Failed) => Error;
  /** An error made at the plugin's call, for its stack. When the answer comes, no plugin code is on the stack. */
  readonly place: Error;
}

/**
 * Makes the capability calls of one plugin call. Refuses every call after that plugin call has ended, even while
 * another plugin call runs. Otherwise the late call would be made in the name of the running one.
 */
export interface CapabilityCaller {
  /**
   * Calls a capability. `fields` runs inside the promise, so that a bad argument rejects and never throws. Rejects with
   * a TypeError that names the path when a field has no JSON text. Rejects with an Error when the call is refused. The
   * Error has the reply's message, and own `code`, `status` and `details` where the reply has them.
   */
  call<M extends CapabilityMethod, T = CapabilityContract[M]['result']>(
    method: M,
    fields: () => Fields<M>,
    reception?: CapabilityReplyHandling<T>,
  ): Promise<T>;
  /** Has the process do arithmetic beside the guest. {@link CryptoQuestion} describes the answer. */
  job(question: CryptoQuestion): Promise<string>;
}

/** Sends the capability calls of the running plugin call at once. Settles each by its number when its reply arrives. */
export class CapabilityCalls {
  readonly #link: HostLink;
  readonly #end: CallEnd;
  readonly #pending = new SafeMap<number, Pending>();
  #count = 0;
  /** The number of the last call or job. */
  #last = 0;
  #limit = 0;

  constructor(link: HostLink, end: CallEnd) {
    this.#link = link;
    this.#end = end;
  }

  /** Resets the counts for a plugin call that may make `limit` capability calls. */
  begin(limit: number): void {
    this.#pending.clear();
    this.#count = 0;
    this.#last = 0;
    this.#limit = limit;
  }

  /** Functions that make calls for the plugin call that runs now, and for no other. */
  ofRunning(): CapabilityCaller {
    const { number } = this.#end;
    return {
      call: (method, fields, reception) => this.#call(number, method, fields, reception),
      job: (question) => this.#job(number, question),
    };
  }

  #call<M extends CapabilityMethod, T = CapabilityContract[M]['result']>(
    call: number,
    method: M,
    fields: () => Fields<M>,
    reception: CapabilityReplyHandling<T> = {},
  ): Promise<T> {
    const place = new NativeError();
    return new NativePromise<T>((resolve, reject) => {
      // Writes the fields before it counts the call: writing may run the plugin's getters, which may make calls too.
      const params = paramsText(fields());
      const { accept = asIs, refuse = capabilityErrorOf, value } = reception;
      const behind = value === undefined ? undefined : jsonText('value', value(), MAX_REQUEST);
      this.#mustBeOpen(call, method);
      if (++this.#count > this.#limit) {
        const message = `The plugin made more than ${this.#limit} capability calls (limits.calls)`;
        this.#end.cut('CALL_LIMIT', message);
        throw new NativeError(message);
      }
      const pending = { resolve: resolve as (value: unknown) => void, reject, accept, refuse, place };
      this.#ask(pending, (id) => this.#link.request(id, method, params, behind));
    });
  }

  #job(call: number, question: CryptoQuestion): Promise<string> {
    const place = new NativeError();
    return new NativePromise<string>((resolve, reject) => {
      this.#mustBeOpen(call, question.op);
      const pending = {
        resolve: resolve as (value: unknown) => void,
        reject,
        accept: asIs,
        refuse: capabilityErrorOf,
        place,
      };
      this.#ask(pending, (id) => this.#link.job(id, question));
    });
  }

  #mustBeOpen(call: number, what: string): void {
    if (this.#end.isOpen(call)) return;
    // Number 0 stands for requests that the module makes while it is evaluated. These belong to no call.
    if (call !== 0) this.#link.retire();
    throw new NativeError(`${what} was called after the plugin call had ended`);
  }

  /** Gives a pending call or job a number, and sends it under that number. */
  #ask(pending: Pending, ask: (id: number) => string): void {
    const id = this.takeNumber();
    this.#pending.set(id, pending);
    const refusal = ask(id);
    if (refusal === '') return;
    this.#pending.delete(id);
    throw new NativeError(refusal);
  }

  /** The next number, for a question that is asked elsewhere. */
  takeNumber(): number {
    return ++this.#last;
  }

  /**
   * Settles the call with that number.
   * @returns false when no pending call has it
   */
  settle(id: number, reply: CapabilityReply): boolean {
    const pending = this.#pending.get(id);
    if (pending === undefined) return false;
    this.#pending.delete(id);
    if (!reply.ok) {
      pending.reject(placed(pending.refuse(reply.error), pending.place));
      return true;
    }
    try {
      pending.resolve(pending.accept(reply.value));
    } catch (error) {
      pending.reject(error as Error);
    }
    return true;
  }
}

/** The error that a plugin's `catch` sees. */
export function capabilityErrorOf({ message, code, status, details }: Failed): Error {
  const error = new NativeError(message);
  if (code !== undefined) addProperty(error, 'code', code);
  if (status !== undefined) addProperty(error, 'status', status);
  if (details !== undefined) addProperty(error, 'details', details);
  return error;
}

/** Gives an error the stack of a second error, which has no message. */
function placed(error: Error, { stack }: Error): Error {
  // A plugin may change the form of stacks.
  if (typeof stack !== 'string') return error;
  addProperty(error, 'stack', `${error.name}: ${error.message}${stringSlice(stack, NAME_LENGTH)}`, false);
  return error;
}

function addProperty(error: Error, name: string, value: unknown, enumerable = true): void {
  defineProperty(error, name, { __proto__: null, value, writable: true, enumerable, configurable: true } as object);
}

/** Returns an argument. Throws when it was left out. */
export function given<T>(name: string, argument: T): T {
  if (argument === undefined) throw new NativeTypeError(`${name} is missing`);
  return argument;
}

function asIs(value: Json): Json {
  return value;
}

function jsonText(name: string, value: unknown, limitBytes: number): string {
  const json = toJsonText(value, name, limitBytes);
  if (!json.ok) throw new NativeTypeError(json.message);
  return json.text;
}

function paramsText(fields: object): string {
  const names = enumerableKeys(fields);
  let text = '{';
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const value = (fields as Record<string, unknown>)[name];
    if (value === undefined) continue;
    text += `${text === '{' ? '' : ','}${quoteJson(name)}:${jsonText(name, value, Number.POSITIVE_INFINITY)}`;
  }
  return `${text}}`;
}
