import { fromBase58, toBase58 } from '../../domain/base58.ts';

const KEY_LENGTH = 32;

/** The account of an ed25519 public key (32 bytes): the key itself in base58. */
export function addressOfPublicKey(publicKey: Uint8Array): string {
  return toBase58(publicKey);
}

/**
 * Whether a text is 32 bytes in base58, as the address of every account, program and mint. They may be off the curve.
 */
export function isAddress(text: string): boolean {
  return fromBase58(text, KEY_LENGTH) !== undefined;
}

/**
 * The 32 bytes of an address.
 * @throws TypeError for a text that is not an address
 */
export function addressBytes(address: string): Buffer {
  const key = fromBase58(address, KEY_LENGTH);
  if (key === undefined) throw new TypeError(`not an address: ${JSON.stringify(address.slice(0, 50))}`);
  return Buffer.from(key);
}
