import { createKeyedCrypto } from '../node/crypto/keyed-crypto.ts';

/** What of Node's module `crypto` needs keys. */
export const part = createKeyedCrypto;
