/** Characters that are joined at once; more would overflow the stack of the call. */
const BATCH = 4096;

/** A text with a character for each byte, of the same number. */
export function latin1Text(bytes: Uint8Array): string {
  let out = '';
  for (let from = 0; from < bytes.length; from += BATCH) out += textOf(bytes.subarray(from, from + BATCH));
  return out;
}

/** A byte for each UTF-16 unit of a text, its lower half. */
export function latin1Bytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

/** The text of not too many UTF-16 units. */
export function textOf(units: Uint8Array | Uint16Array): string {
  return Reflect.apply(String.fromCharCode, null, units);
}
