/** Types of the questions that the guest asks of the process's cryptography. */

/**
 * Arithmetic that the process does for the guest. All bytes are base64, keys included: a private key is its PKCS #8, a
 * public key its SPKI, both in DER. Between two questions the process keeps only the cipher of a
 * {@link CipherQuestion}. The answer is `=` and base64, `:` and text, `!` and a {@link CryptoFailure}, or `""` when the
 * question is not understood.
 */
export type CryptoQuestion =
  | { op: 'digest'; hash: string; data: string; length?: number }
  | { op: 'hmac'; hash: string; key: string; data: string }
  | SealQuestion
  | CipherQuestion
  | SignatureQuestion
  | KeyQuestion
  | SlowCryptoQuestion
  | { op: 'agree'; key: string; peer: string }
  | { op: 'oaep'; use: OaepUse; key: string; data: string; hash: string; label?: string }
  | { op: 'names'; of: 'hashes' | 'ciphers' | 'constants' };

/** Runs a cipher in one step. `tag` is the length of the authentication tag in bytes. The tag follows the data. */
export interface SealQuestion {
  op: 'encrypt' | 'decrypt';
  cipher: string;
  key: string;
  iv: string;
  aad: string;
  tag: number;
  data: string;
}

/**
 * Runs a cipher in steps. `cipher` answers with a number, by which `step` names the cipher. The cipher lasts until
 * `final`, or until the end of the call.
 */
export type CipherQuestion =
  | { op: 'cipher'; cipher: string; decrypt: number; key: string; iv?: string; tag?: number }
  | { op: 'step'; id: number; step: CipherStep; data: string; length?: number };

export type CipherStep = 'update' | 'aad' | 'tag' | 'padding' | 'final';

/** The options are those of Node's `crypto.sign`. */
export interface SignatureQuestion {
  op: 'sign' | 'verify';
  hash?: string;
  key: string;
  data: string;
  signature?: string;
  padding?: number;
  salt?: number;
  encoding?: string;
  context?: string;
}

/** Reads a key from any form, and answers with the JSON text of a {@link ReadKey}; or writes a key in any form. */
export type KeyQuestion =
  | { op: 'read-key'; as: KeyKind; format: string; type?: string; data: string; curve?: string }
  | { op: 'write-key'; as: KeyKind; key: string; format: string; type?: string };

export type KeyKind = 'private' | 'public';

export interface ReadKey {
  /** In DER. */
  key: string;
  kind: string;
  details: Record<string, unknown>;
}

/** Questions that may take long. They are asked at once, or as a job that runs beside the guest. */
export type SlowCryptoQuestion =
  | { op: 'pbkdf2'; password: string; salt: string; iterations: number; length: number; hash: string }
  | {
      op: 'scrypt';
      password: string;
      salt: string;
      length: number;
      cost: number;
      block: number;
      parallel: number;
      memory: number;
    }
  | { op: 'hkdf'; hash: string; key: string; salt: string; info: string; length: number }
  | { op: 'key-pair'; kind: string; bits?: number; exponent?: number; curve?: string };

/** Encryption with RSA-OAEP. */
export type OaepUse = 'publicEncrypt' | 'privateDecrypt';

/** An error of Node's own cryptography, as the guest gets it. */
export interface CryptoFailure {
  kind: 'Error' | 'TypeError' | 'RangeError';
  message: string;
  code?: string;
  library?: string;
  reason?: string;
}
