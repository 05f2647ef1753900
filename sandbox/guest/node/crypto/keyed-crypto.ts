import type { PartWorld } from '../../part-world.ts';
import { createArithmetic } from './arithmetic.ts';
import { createCiphers } from './ciphers.ts';
import { createDerivations } from './derivations.ts';
import { createKeyAgreement } from './key-agreement.ts';
import { createKeyObjects, type WebKeys } from './key-objects.ts';
import { createKeyPairs } from './key-pairs.ts';
import { createKeyReading } from './key-reading.ts';
import { createRsaEncryption } from './rsa-encryption.ts';
import { createSignatures } from './signatures.ts';

/** The members of Node's module `crypto` that need keys. */
export function createKeyedCrypto(world: PartWorld): Record<string, unknown> {
  const arithmetic = createArithmetic(world);
  const keys = createKeyObjects(arithmetic, () => world.webKeys() as WebKeys);
  const reading = createKeyReading(arithmetic, keys);
  const { createSecretKey, createPrivateKey, createPublicKey } = reading;
  return {
    KeyObject: keys.KeyObject,
    createSecretKey,
    createPrivateKey,
    createPublicKey,
    ...createCiphers(arithmetic, reading),
    ...createSignatures(arithmetic, reading),
    ...createKeyPairs(arithmetic, keys, world.random),
    ...createKeyAgreement(arithmetic, reading),
    ...createRsaEncryption(arithmetic, reading),
    ...createDerivations(arithmetic, reading),
    secretOf: reading.secret,
    /** Classes to which no name leads. */
    unnamed: keys.classes,
  };
}
