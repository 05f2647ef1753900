import { DOMException } from '../dom-exception.ts';
import { tooFewArguments } from '../web-idl.ts';
import { latin1Bytes, latin1Text } from './text-decoder.ts';

/** ES2026's methods for base64 and hex. The engine has them, but the types of TypeScript's library lack them. */
interface TextBytes {
  toBase64(options?: { alphabet: 'base64url'; omitPadding: boolean }): string;
  toHex(): string;
}

interface TextBytesClass {
  fromBase64(text: string): Uint8Array<ArrayBuffer>;
  fromHex(text: string): Uint8Array<ArrayBuffer>;
}

const { fromBase64, fromHex } = Uint8Array as unknown as TextBytesClass;

const { toBase64, toHex } = Uint8Array.prototype as unknown as TextBytes;

/**
 * The bytes of a base64 text, padded or not.
 * @throws SyntaxError
 */
export function bytesFromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Reflect.apply(fromBase64, Uint8Array, [text]);
}

/** Bytes as base64, padded. */
export function base64Of(bytes: Uint8Array): string {
  return Reflect.apply(toBase64, bytes, []);
}

/** Bytes as base64 of the alphabet for URLs, without padding (RFC 4648, section 5). */
export function base64UrlOf(bytes: Uint8Array): string {
  return Reflect.apply(toBase64, bytes, [{ alphabet: 'base64url', omitPadding: true }]);
}

/**
 * The bytes of a text with two hexadecimal digits for each.
 * @throws SyntaxError
 */
export function bytesFromHex(text: string): Uint8Array<ArrayBuffer> {
  return Reflect.apply(fromHex, Uint8Array, [text]);
}

export function hexOf(bytes: Uint8Array): string {
  return Reflect.apply(toHex, bytes, []);
}

/** A copy of the bytes that a buffer or a view holds now; undefined for any other value. */
export function copyOfBytes(source: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength).slice();
  return source instanceof ArrayBuffer ? new Uint8Array(source).slice() : undefined;
}

/** All pieces one after the other. */
export function concatBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** Base64 of a text whose characters are bytes (HTML 8.3). */
export function btoa(data: unknown): string {
  if (arguments.length === 0) throw tooFewArguments('btoa', 1);
  const text = String(data);
  if (/[^\0-\xff]/.test(text)) {
    throw new DOMException('The string contains characters outside of Latin1.', 'InvalidCharacterError');
  }
  return base64Of(latin1Bytes(text));
}

/** The bytes of a base64 text as characters; ASCII white space is skipped, padding may be absent (Infra 6). */
export function atob(data: unknown): string {
  if (arguments.length === 0) throw tooFewArguments('atob', 1);
  const text = String(data).replace(/[\t\n\f\r ]/g, '');
  const body = text.length % 4 === 0 ? text.replace(/={1,2}$/, '') : text;
  if (body.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(body)) {
    throw new DOMException('The string to be decoded is not correctly encoded.', 'InvalidCharacterError');
  }
  return latin1Text(bytesFromBase64(body));
}
