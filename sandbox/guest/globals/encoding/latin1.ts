/** Characters that are joined at once; more would overflow the stack of the call. */
const BATCH = 4096;

/** A text with one character for each byte. The character's code is the byte. */
export function latin1Text(bytes: Uint8Array): string {
  let out = '';
  for (let from = 0; from < bytes.length; from += BATCH) out += textOf(bytes.subarray(from, from + BATCH));
  return out;
}

/** The bytes of a text: the lower half of each UTF-16 unit. */
export function latin1Bytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

/** The text of UTF-16 units. More than a few thousand units would overflow the stack. */
export function textOf(units: Uint8Array | Uint16Array): string {
  return Reflect.apply(String.fromCharCode, null, units);
}
