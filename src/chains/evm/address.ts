import { hash } from 'node:crypto';
import { z } from 'zod';

/** The form of an address, for the description of the API. One in mixed case must also carry its checksum. */
export const ADDRESS_PATTERN = '^(0x)?[0-9a-fA-F]{40}$';
const ADDRESS = new RegExp(ADDRESS_PATTERN);

/** 20 bytes in hexadecimal, `0x` optional; one in mixed case must carry its checksum (EIP-55). */
export function isAddress(text: string): boolean {
  return addressFault(text) === undefined;
}

/** Why a text is not an address by {@link isAddress}; undefined if it is one. */
export function addressFault(text: string): string | undefined {
  if (!ADDRESS.test(text)) return 'expected an address of 20 bytes in hexadecimal';
  const digits = text.replace(/^0x/, '');
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return undefined;
  if (digits === checksummed(digits.toLowerCase())) return undefined;
  return 'the checksum (EIP-55) is wrong: check the address, or write it in lower case';
}

/** An address in a list of a request, in its {@link normalAddress} form. */
export const addressSchema = z
  .string()
  .superRefine((text, context) => {
    const message = addressFault(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .transform(normalAddress)
  .meta({ pattern: ADDRESS_PATTERN });

/** EIP-55: a letter is a capital where the hash of the lower case has a digit of 8 or more. */
function checksummed(digits: string): string {
  const hashed = hash('keccak-256', digits, 'hex');
  return digits.replace(/[a-f]/g, (letter, at: number) => ((hashed[at] ?? '') >= '8' ? letter.toUpperCase() : letter));
}

/** The one form in which addresses are compared: `0x` and lower case. */
export function normalAddress(text: string): string {
  return `0x${text.replace(/^0x/i, '').toLowerCase()}`;
}

/** The account of a secp256k1 public key (65 bytes): the last 20 bytes of its hash, as the reference writes it. */
export function addressOfPublicKey(publicKey: Uint8Array): string {
  return `0x${hash('keccak-256', publicKey.subarray(1), 'hex').slice(-40)}`;
}
