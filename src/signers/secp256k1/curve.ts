/** The functions of libsecp256k1 that are used, for each of its builds. Points are 65 bytes, `04 ‖ X ‖ Y`. */
export interface Secp256k1 {
  /** Whether 32 bytes are a scalar from 1 to the group order less one. */
  isScalar(key: Uint8Array): boolean;
  /** The point of a compressed or uncompressed encoding; undefined when it is none. */
  pointOf(encoded: Uint8Array): Uint8Array | undefined;
  /** The public point of a scalar; undefined when the scalar is out of range. */
  multiplyBase(scalar: Uint8Array): Uint8Array | undefined;
  /** Deterministic (RFC 6979), with a low s: 64 bytes, `r ‖ s`. The key has to be a scalar in range. */
  sign(digest: Uint8Array, key: Uint8Array): { signature: Uint8Array; recoveryId: number };
  /** The public key that made a signature; undefined when none can have. */
  recover(digest: Uint8Array, signature: Uint8Array, recoveryId: 0 | 1): Uint8Array | undefined;
}
