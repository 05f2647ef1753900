/** Bitcoin's alphabet: no 0, O, I and l. */
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

const NOT_BASE58 = /[^1-9A-HJ-NP-Za-km-z]/;

/** Each digit's value by its character code. */
const VALUES = new Uint8Array(128);
for (let value = 0; value < ALPHABET.length; value += 1) VALUES[ALPHABET.charCodeAt(value)] = value;

/** Digits that are handled at once: as many as a number holds exactly. Numbers are cheap, big integers are not. */
const CHUNK = 9;
const CHUNK_BASE = 58n ** 9n;

const DIGITS_PER_BYTE = Math.log(256) / Math.log(58);

/** Bytes as base58, in which each leading zero byte is a `1`. The work grows with the square of the length. */
export function toBase58(bytes: Uint8Array): string {
  const leadingZeros = bytes.findIndex((byte) => byte !== 0);
  let digits = '';
  for (let rest = BigInt(`0x0${bytes.toHex()}`); rest > 0n; rest /= CHUNK_BASE) {
    digits = chunkOf(Number(rest % CHUNK_BASE)) + digits;
  }
  return '1'.repeat(leadingZeros < 0 ? bytes.length : leadingZeros) + digits.replace(/^1+/, '');
}

/**
 * Decodes a base58 text; undefined when it is not base58, or does not have `length` bytes. Each sequence of bytes has
 * one text only. A text that is too long is refused unread.
 */
export function fromBase58(text: string, length: number): Uint8Array | undefined {
  if (text.length > Math.ceil(length * DIGITS_PER_BYTE) || NOT_BASE58.test(text)) return undefined;
  let value = 0n;
  for (let at = 0; at < text.length; at += CHUNK) {
    const chunk = text.slice(at, at + CHUNK);
    value = value * (chunk.length === CHUNK ? CHUNK_BASE : 58n ** BigInt(chunk.length)) + BigInt(valueOf(chunk));
  }
  const digits = value === 0n ? '' : value.toString(16);
  const leadingOnes = text.length - text.replace(/^1+/, '').length;
  if (leadingOnes + Math.ceil(digits.length / 2) !== length) return undefined;
  return Uint8Array.fromHex(digits.padStart(length * 2, '0'));
}

function chunkOf(value: number): string {
  let digits = '';
  let rest = value;
  for (let count = 0; count < CHUNK; count += 1) {
    digits = ALPHABET.charAt(rest % 58) + digits;
    rest = Math.floor(rest / 58);
  }
  return digits;
}

function valueOf(chunk: string): number {
  let value = 0;
  for (let at = 0; at < chunk.length; at += 1) value = value * 58 + (VALUES[chunk.charCodeAt(at)] ?? 0);
  return value;
}
