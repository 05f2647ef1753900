import { createKeyedCrypto } from '../node/crypto/keyed-crypto.ts';

/** The members of Node's module `crypto` that need keys. */
export const part = createKeyedCrypto;
