import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sealKeystore } from '../../../src/signers/keystore.ts';
import type { Curve } from '../../../src/signers/signer.ts';
import { newServiceKey } from './service-key.ts';
import type { SignerSubject } from './signer-contract.ts';

/** A `local` signer's key: a keystore with a light scrypt in the given folder. */
export async function keystoreFile(folder: string, curve: Curve): Promise<SignerSubject> {
  const key = newServiceKey(curve);
  const passphrase = `canary-passphrase-${randomBytes(8).toString('hex')}`;
  const path = join(folder, `${curve}.json`);
  const parts = { address: '00'.repeat(20), id: 'keystore', randomBytes, n: 1024 };
  await writeFile(path, await sealKeystore(key.secret, Buffer.from(passphrase), parts));
  return {
    type: 'local',
    curve,
    publicKey: key.publicKey,
    config: { path, passphrase: { type: 'plain', value: passphrase } },
    secrets: () => [passphrase, key.secret.toString('hex')],
  };
}
