import type { RuntimeServices } from '../lazy-module-loader.ts';
import { createCiphers } from '../node/crypto/ciphers.ts';
import { createNodeDerivations } from '../node/crypto/derivations.ts';
import { createNodeKeys, type WebKeys } from '../node/crypto/keys.ts';
import { createProcessCrypto } from '../node/crypto/process-crypto.ts';
import { createSignatures } from '../node/crypto/signatures.ts';

/** The members of Node's module `crypto` that need keys. */
export function create(services: RuntimeServices): Record<string, unknown> {
  const arithmetic = createProcessCrypto(services);
  const keys = createNodeKeys(arithmetic, () => services.webKeys() as WebKeys);
  const { KeyObject, createSecretKey, createPrivateKey, createPublicKey, classes } = keys;
  return {
    KeyObject,
    createSecretKey,
    createPrivateKey,
    createPublicKey,
    ...createCiphers(arithmetic, keys),
    ...createSignatures(arithmetic, keys),
    ...createNodeDerivations(arithmetic, keys),
    secretOf: keys.secret,
    /** Classes to which no name leads. */
    unnamed: classes,
  };
}
