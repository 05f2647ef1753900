import { conform } from '../web-idl.ts';
import { encodeUtf8, writeUtf8 } from './utf8-encoder.ts';

/** UTF-8 encoder (Encoding Standard 7.4). */
export class TextEncoder {
  /** A private field that only objects of this class have. */
  readonly #brand = 'utf-8';

  get encoding(): string {
    return this.#brand;
  }

  encode(input: unknown = ''): Uint8Array {
    return encodeUtf8(textFor(this.#brand, input));
  }

  /** Writes as many whole characters as fit; `read` counts UTF-16 units, `written` bytes. */
  encodeInto(input: unknown, destination: Uint8Array): { read: number; written: number } {
    const text = textFor(this.#brand, input);
    if (!(destination instanceof Uint8Array)) throw new TypeError('The destination must be a Uint8Array');
    return writeUtf8(text, destination);
  }
}

conform(TextEncoder, { required: { encodeInto: 2 } });

function textFor(_brand: string, input: unknown): string {
  return `${input as string}`;
}
