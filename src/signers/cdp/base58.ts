const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** The 32 bytes that a text in base58 stands for; undefined where it stands for others, or for none. */
export function bytesOfBase58(text: string): Buffer | undefined {
  // 32 bytes are 32 digits where all are zero, and never more than 44.
  if (text.length < 32 || text.length > 44) return undefined;
  let value = 0n;
  for (const digit of text) {
    const place = ALPHABET.indexOf(digit);
    if (place < 0) return undefined;
    value = value * 58n + BigInt(place);
  }
  const digits = value === 0n ? '' : value.toString(16);
  const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
  // Each leading 1 is a zero byte.
  const zeros = /^1*/.exec(text)?.[0].length ?? 0;
  return zeros + bytes.length === 32 ? Buffer.concat([Buffer.alloc(zeros), bytes]) : undefined;
}
