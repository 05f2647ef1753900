import type { PartWorld } from '../../part-world.ts';
import { createArithmetic } from './arithmetic.ts';
import { createCiphers } from './ciphers.ts';
import { createDerivations } from './derivations.ts';
import { createKeys, type WebKeys } from './keys.ts';
import { createSignatures } from './signatures.ts';

/** The members of Node's module `crypto` that need keys. */
export function createKeyedCrypto(world: PartWorld): Record<string, unknown> {
  const arithmetic = createArithmetic(world);
  const keys = createKeys(arithmetic, () => world.webKeys() as WebKeys);
  const { KeyObject, createSecretKey, createPrivateKey, createPublicKey, classes } = keys;
  return {
    KeyObject,
    createSecretKey,
    createPrivateKey,
    createPublicKey,
    ...createCiphers(arithmetic, keys),
    ...createSignatures(arithmetic, keys),
    ...createDerivations(arithmetic, keys),
    secretOf: keys.secret,
    /** Classes to which no name leads. */
    unnamed: classes,
  };
}
