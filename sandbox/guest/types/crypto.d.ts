/** The Web Cryptography API in plugins. It is complete, and uses the OpenSSL of the service. */

type BufferSource = ArrayBuffer | ArrayBufferView;
type KeyUsage = 'encrypt' | 'decrypt' | 'sign' | 'verify' | 'deriveKey' | 'deriveBits' | 'wrapKey' | 'unwrapKey';
type KeyFormat = 'raw' | 'spki' | 'pkcs8' | 'jwk';

/** An algorithm with its parameters, as the Web Cryptography specification defines them: `{ name: 'AES-GCM', iv }`. */
interface AlgorithmParameters {
  name: string;
  [parameter: string]: unknown;
}
type AlgorithmIdentifier = string | AlgorithmParameters;

interface JsonWebKey {
  kty?: string;
  alg?: string;
  crv?: string;
  x?: string;
  y?: string;
  d?: string;
  n?: string;
  e?: string;
  p?: string;
  q?: string;
  dp?: string;
  dq?: string;
  qi?: string;
  k?: string;
  use?: string;
  key_ops?: string[];
  ext?: boolean;
}

declare class CryptoKey {
  private constructor();
  readonly type: 'secret' | 'public' | 'private';
  readonly extractable: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- what else there is depends on the algorithm
  readonly algorithm: { name: string; [parameter: string]: any };
  readonly usages: KeyUsage[];
}
interface CryptoKeyPair {
  publicKey: CryptoKey;
  privateKey: CryptoKey;
}

/** Algorithms that use pairs of a public and a private key. */
type PairName = `RSA${string}` | 'ECDSA' | 'ECDH' | 'Ed25519' | 'X25519';

declare class SubtleCrypto {
  private constructor();
  digest(algorithm: AlgorithmIdentifier, data: BufferSource): Promise<ArrayBuffer>;
  encrypt(algorithm: AlgorithmIdentifier, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  decrypt(algorithm: AlgorithmIdentifier, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  sign(algorithm: AlgorithmIdentifier, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  verify(algorithm: AlgorithmIdentifier, key: CryptoKey, signature: BufferSource, data: BufferSource): Promise<boolean>;
  generateKey(
    algorithm: PairName | { name: PairName; [parameter: string]: unknown },
    extractable: boolean,
    usages: readonly KeyUsage[],
  ): Promise<CryptoKeyPair>;
  generateKey(algorithm: AlgorithmIdentifier, extractable: boolean, usages: readonly KeyUsage[]): Promise<CryptoKey>;
  importKey(
    format: KeyFormat,
    data: BufferSource | JsonWebKey,
    algorithm: AlgorithmIdentifier,
    extractable: boolean,
    usages: readonly KeyUsage[],
  ): Promise<CryptoKey>;
  exportKey(format: 'jwk', key: CryptoKey): Promise<JsonWebKey>;
  exportKey(format: Exclude<KeyFormat, 'jwk'>, key: CryptoKey): Promise<ArrayBuffer>;
  deriveBits(algorithm: AlgorithmIdentifier, key: CryptoKey, bits?: number | null): Promise<ArrayBuffer>;
  deriveKey(
    algorithm: AlgorithmIdentifier,
    key: CryptoKey,
    derived: AlgorithmIdentifier,
    extractable: boolean,
    usages: readonly KeyUsage[],
  ): Promise<CryptoKey>;
  wrapKey(format: KeyFormat, key: CryptoKey, by: CryptoKey, algorithm: AlgorithmIdentifier): Promise<ArrayBuffer>;
  unwrapKey(
    format: KeyFormat,
    wrapped: BufferSource,
    by: CryptoKey,
    algorithm: AlgorithmIdentifier,
    unwrapped: AlgorithmIdentifier,
    extractable: boolean,
    usages: readonly KeyUsage[],
  ): Promise<CryptoKey>;
}

declare class Crypto {
  private constructor();
  readonly subtle: SubtleCrypto;
  getRandomValues<T extends ArrayBufferView>(array: T): T;
  randomUUID(): `${string}-${string}-${string}-${string}-${string}`;
}
declare var crypto: Crypto;
