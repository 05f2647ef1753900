/** Base32 (RFC 4648). Its 56 digits hold exactly the 35 bytes of a StrKey, so there is no padding. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The first byte of a StrKey (SEP-23), which makes its first letter. */
const ACCOUNT = 6 << 3;
const CONTRACT = 2 << 3;

/** The account of an ed25519 public key (32 bytes): `G…`. */
export function addressOfPublicKey(publicKey: Uint8Array): string {
  return strKey(ACCOUNT, publicKey);
}

/** Whether a text is an account with its checksum: `G…`. */
export function isAccountAddress(text: string): boolean {
  return isStrKey(ACCOUNT, text);
}

/** Whether a text is a contract with its checksum: `C…`. */
export function isContractAddress(text: string): boolean {
  return isStrKey(CONTRACT, text);
}

/** Version, 32 bytes and checksum in base32. */
function strKey(version: number, payload: Uint8Array): string {
  const bytes = Buffer.alloc(35);
  bytes.writeUInt8(version, 0);
  bytes.set(payload, 1);
  bytes.writeUInt16LE(crc16(bytes.subarray(0, 33)), 33);
  const digits = BigInt(`0x${bytes.toString('hex')}`)
    .toString(32)
    .padStart(56, '0');
  return digits.replace(/./g, (digit) => ALPHABET.charAt(Number.parseInt(digit, 32)));
}

/** Whether a text is a StrKey of this version. Each key has one text only: its bytes must give the same text again. */
function isStrKey(version: number, text: string): boolean {
  if (!/^[A-Z2-7]{56}$/.test(text)) return false;
  let value = 0n;
  for (const digit of text) value = value * 32n + BigInt(ALPHABET.indexOf(digit));
  const bytes = Buffer.from(value.toString(16).padStart(70, '0'), 'hex');
  return strKey(version, bytes.subarray(1, 33)) === text;
}

/** CRC-16/XMODEM: polynomial 0x1021, from zero, nothing reflected. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return crc;
}
