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
