/** ES2026's base64 methods of Uint8Array, which the engine has and the library's types have not. */
interface Base64Bytes {
  toBase64(): string;
}
const { fromBase64 } = Uint8Array as unknown as { fromBase64(text: string): Uint8Array };
const { toBase64 } = Uint8Array.prototype as unknown as Base64Bytes;

/** The bytes of a base64 text. */
export function bytesFromBase64(text: string): Uint8Array {
  return Reflect.apply(fromBase64, Uint8Array, [text]);
}

/** Bytes as base64, padded. */
export function base64Of(bytes: Uint8Array): string {
  return Reflect.apply(toBase64, bytes, []);
}

/** A copy of what a buffer or a view holds now; undefined for anything else. */
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
