/** Base58 in Bitcoin's alphabet: no 0, O, I and l. */
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

const KEY_LENGTH = 32;

/** The account of an ed25519 public key (32 bytes): the key itself in base58. */
export function addressOf(publicKey: Uint8Array): string {
  const leadingZeros = publicKey.findIndex((byte) => byte !== 0);
  let digits = '';
  for (let rest = BigInt(`0x${Buffer.from(publicKey).toString('hex')}`); rest > 0n; rest /= 58n) {
    digits = ALPHABET.charAt(Number(rest % 58n)) + digits;
  }
  return '1'.repeat(leadingZeros < 0 ? publicKey.length : leadingZeros) + digits;
}

/** Whether a text is 32 bytes in base58, on the curve or not, as every account, program and mint has. */
export function isAddress(text: string): boolean {
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return false;
  const [leadingOnes = ''] = /^1*/.exec(text) ?? [];
  let value = 0n;
  for (const digit of text) value = value * 58n + BigInt(ALPHABET.indexOf(digit));
  const valueLength = value === 0n ? 0 : Math.ceil(value.toString(16).length / 2);
  return leadingOnes.length + valueLength === KEY_LENGTH;
}
