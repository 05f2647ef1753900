import type { CryptoFailure } from '../../guest/node/crypto/crypto-question.ts';
import { nodeCrypto } from '../node-builtins.ts';

/** A question that is malformed, or that this process does not answer. The guest sees the message. */
export class CryptoRefusal extends Error {
  readonly code = 'ERR_CRYPTO_OPERATION_FAILED';
}

/** A guest's question. The guest wrote every field, whatever the types say, so each field is checked before use. */
export class CryptoQuestionFields {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(fields: unknown) {
    if (typeof fields !== 'object' || fields === null) throw new CryptoRefusal('The question is none');
    this.#fields = fields as Record<string, unknown>;
  }

  text(name: string): string {
    const value = this.optional(name);
    if (value === undefined) throw new CryptoRefusal(`The question has no ${name}`);
    return value;
  }

  optional(name: string): string | undefined {
    const value = this.#own(name);
    if (value === undefined || typeof value === 'string') return value;
    throw new CryptoRefusal(`${name} is no text`);
  }

  bytes(name: string, most = Number.POSITIVE_INFINITY): Buffer {
    const text = this.text(name);
    if (text.length > most * 1.4 + 4) throw new CryptoRefusal(`${name} is longer than ${most} bytes`);
    return Buffer.from(text, 'base64');
  }

  optionalBytes(name: string, most?: number): Buffer | undefined {
    return this.#own(name) === undefined ? undefined : this.bytes(name, most);
  }

  whole(name: string, most: number): number {
    const value = this.optionalWhole(name, most);
    if (value === undefined) throw new CryptoRefusal(`The question has no ${name}`);
    return value;
  }

  optionalWhole(name: string, most: number, least = 0): number | undefined {
    const value = this.#own(name);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
    throw new CryptoRefusal(`${name} must be a whole number from ${least} to ${most}`);
  }

  /** Returns a field that must be one of the known texts. */
  one<T extends string>(name: string, known: readonly T[]): T {
    const value = this.text(name);
    const found = known.find((one) => one === value);
    if (found === undefined) throw new CryptoRefusal(`${name} is none of ${known.slice(0, 10).join(', ')}`);
    return found;
  }

  #own(name: string): unknown {
    return Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
  }
}

const KINDS = ['TypeError', 'RangeError'] as const;
const MAX_TEXT = 400;
/** Matches messages that reveal more than the guest's data: paths, and lines of a stack. */
const PRIVATE = /file:|node:|\n|(^|\s)\/\w/;

/** What the guest may see of an error. Undefined when the error may come from this process's own code. */
export function cryptoFailureOf(error: unknown): CryptoFailure | undefined {
  if (!(error instanceof Error) || error.message.length > MAX_TEXT || PRIVATE.test(error.message)) return undefined;
  const { code, library, reason } = error as { code?: unknown; library?: unknown; reason?: unknown };
  const failure: CryptoFailure = {
    kind: KINDS.find((kind) => kind === error.name) ?? 'Error',
    message: error.message,
  };
  if (isShort(code)) failure.code = code;
  if (isShort(library)) failure.library = library;
  if (isShort(reason)) failure.reason = reason;
  return failure;
}

function isShort(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT;
}

/**
 * Clears OpenSSL's list of errors by deriving a key. OpenSSL keeps errors by thread, and Node's reading of private keys
 * takes an old error for its own. So one call's error would make another call fail.
 */
export function clearOpenSslErrors(): void {
  nodeCrypto().hkdfSync('sha256', '', '', '', 1);
}
