/** stellar-core's `isStringValid`: ASCII without control characters. */
export function isPrintable(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte >= 0x20 && byte < 0x7f);
}
