import { z } from 'zod';
import { type SignerKind, secretSchema } from './signer.ts';

const configSchema = z.strictObject({
  path: z
    .string()
    .min(1, 'the path of a keystore file')
    .describe('Path of the encrypted keystore, relative to the working directory'),
  passphrase: secretSchema.describe('Passphrase of the keystore'),
});

/** `local`: an encrypted keystore file, opened at start. */
export const localSignerKind: SignerKind<z.output<typeof configSchema>> = {
  type: 'local',
  curves: ['secp256k1', 'ed25519'],
  configSchema,
  limitMs: null,
  fileOf: ({ path }) => path,
  create: (id, { path, passphrase }, { secrets, keys }) =>
    keys.open(id, async () => ({
      kind: 'keystore',
      path,
      // The passphrase has a buffer of its own, which the key thread takes over.
      passphrase: new TextEncoder().encode(secrets(passphrase)),
    })),
};
