import { z } from 'zod';
import { type SignerKind, secretSchema } from './signer.ts';

const configSchema = z
  .strictObject({ key: secretSchema.describe('Private key: 64 hexadecimal digits, without 0x') })
  .superRefine(({ key }, context) => {
    const message = key.type === 'plain' ? rawKeyFault(key.value) : null;
    if (message !== null) context.addIssue({ code: 'custom', path: ['key'], message });
  });

/**
 * `plain`: a key that a client hands over. Only the API accepts this kind, and seals the key before it is stored. A
 * file would hold the key in clear.
 */
export const rawKeySignerKind: SignerKind<z.output<typeof configSchema>> = {
  type: 'plain',
  curves: ['secp256k1', 'ed25519'],
  configSchema,
  limitMs: null,
  // Reads the configuration again. A reference to the given one would keep the key in memory for as long as the signer
  // lives.
  create: (id, _, { reread, keys, secrets }) =>
    keys.open(id, async () => {
      const { key } = configSchema.parse(await reread());
      return { kind: 'key', bytes: Uint8Array.fromHex(key.type === 'plain' ? key.value : secrets(key)) };
    }),
};

/** What is wrong with a key, in the reference's words; null when the key is valid. Shows nothing of the key. */
function rawKeyFault(key: string): string | null {
  if (!/^(?:[0-9a-f]{2})*$/i.test(key)) {
    return 'Invalid hex key format: not hexadecimal. Key must be a 64-character hex string (32 bytes).';
  }
  if (key.length !== 64) {
    return `Invalid signer configuration: Raw key must be exactly 32 bytes, got ${key.length / 2} bytes`;
  }
  return /^0*$/.test(key) ? 'Invalid signer configuration: Raw key cannot be all zeros' : null;
}
