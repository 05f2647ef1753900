/** A text of bytes (`0x` and two digits each), or a list. */
export type RlpItem = string | readonly RlpItem[];

/** The bytes that head an item: a byte for each kind, or that and the number of bytes in their length. */
const TEXT = 0x80;
const LIST = 0xc0;
/** Up to this many bytes, the first byte also holds the length. */
const SHORT = 55;

/**
 * Encodes an item in RLP (Ethereum yellow paper, appendix B). It is written here because ethers' encoder took twenty
 * times as long, and each signature needs two encodings.
 * @returns `0x` and the bytes in hexadecimal
 */
export function encodeRlp(item: RlpItem): string {
  return `0x${encoded(item)}`;
}

function encoded(item: RlpItem): string {
  if (typeof item !== 'string') return headed(LIST, item.map(encoded).join(''));
  const digits = item.slice(2);
  return digits.length === 2 && digits < '80' ? digits : headed(TEXT, digits);
}

function headed(kind: number, digits: string): string {
  const length = digits.length / 2;
  if (length <= SHORT) return hex(kind + length) + digits;
  const lengthDigits = hex(length);
  return hex(kind + SHORT + lengthDigits.length / 2) + lengthDigits + digits;
}

function hex(value: number): string {
  const digits = value.toString(16);
  return digits.length % 2 === 0 ? digits : `0${digits}`;
}

/** An integer as RLP has it: big endian, without leading zeros, zero as nothing. */
export function rlpInteger(value: bigint): string {
  if (value === 0n) return '0x';
  const digits = value.toString(16);
  return `0x${digits.length % 2 === 0 ? '' : '0'}${digits}`;
}
