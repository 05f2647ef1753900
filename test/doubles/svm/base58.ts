const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Bytes as base58: each leading zero byte is a `1`. */
export function toBase58(bytes: Uint8Array): string {
  const zeros = bytes.findIndex((byte) => byte !== 0);
  let digits = '';
  for (let rest = BigInt(`0x0${Buffer.from(bytes).toString('hex')}`); rest > 0n; rest /= 58n) {
    digits = ALPHABET.charAt(Number(rest % 58n)) + digits;
  }
  return '1'.repeat(zeros < 0 ? bytes.length : zeros) + digits;
}

/** The bytes of a base58 text; undefined for a text that is none. */
export function fromBase58(text: string): Uint8Array | undefined {
  let value = 0n;
  for (const digit of text) {
    const place = ALPHABET.indexOf(digit);
    if (place < 0) return undefined;
    value = value * 58n + BigInt(place);
  }
  const hex = value === 0n ? '' : value.toString(16);
  const ones = /^1*/.exec(text)?.[0].length ?? 0;
  return Buffer.concat([Buffer.alloc(ones), Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')]);
}
