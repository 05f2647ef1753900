import { base64Of } from '../../globals/encoding/bytes.ts';
import { checkString } from '../node-error.ts';
import type { Arithmetic } from './arithmetic.ts';
import type { RsaUse } from './crypto-question.ts';
import { anyBytesOf } from './hashes.ts';
import { isGiven } from './key-objects.ts';
import type { KeyReading } from './key-reading.ts';

/** OpenSSL's numbers of the paddings (openssl/rsa.h). */
const PKCS1_PADDING = 1;
const OAEP_PADDING = 4;
/** The padding of SSL 2, which OpenSSL has given up. */
const UNKNOWN_PADDING = 2;
const PADDINGS = [0, PKCS1_PADDING, 3, OAEP_PADDING, 5, 6];
const DEFAULTS: Readonly<Record<RsaUse, number>> = {
  publicEncrypt: OAEP_PADDING,
  privateDecrypt: OAEP_PADDING,
  privateEncrypt: PKCS1_PADDING,
  publicDecrypt: PKCS1_PADDING,
};

/** `publicEncrypt`, `publicDecrypt`, `privateEncrypt` and `privateDecrypt`. */
export function createRsaEncryption(arithmetic: Arithmetic, { privateDer, publicDer }: KeyReading) {
  function used(use: RsaUse, key: unknown, data: unknown): Buffer {
    const { padding = DEFAULTS[use], oaepHash, oaepLabel, encoding } = isGiven(key) ? key : {};
    if (oaepHash !== undefined) checkString(oaepHash, 'key.oaepHash');
    const der = use.startsWith('private') ? privateDer(key) : publicDer(key);
    const question = {
      op: 'rsa',
      use,
      key: der,
      padding: PADDINGS.find((known) => known === padding) ?? UNKNOWN_PADDING,
      data: base64Of(anyBytesOf(data, encoding, 'buffer')),
    } as const;
    const more = {
      ...(oaepHash === undefined ? {} : { hash: oaepHash }),
      ...(oaepLabel === undefined ? {} : { label: base64Of(anyBytesOf(oaepLabel, encoding, 'key.oaepLabel')) }),
    };
    return Buffer.from(arithmetic.bytes({ ...question, ...more }).buffer);
  }

  return {
    publicEncrypt: (key: unknown, data: unknown) => used('publicEncrypt', key, data),
    publicDecrypt: (key: unknown, data: unknown) => used('publicDecrypt', key, data),
    privateEncrypt: (key: unknown, data: unknown) => used('privateEncrypt', key, data),
    privateDecrypt: (key: unknown, data: unknown) => used('privateDecrypt', key, data),
  };
}
