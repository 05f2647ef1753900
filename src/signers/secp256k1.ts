/** ECDSA on secp256k1 by libsecp256k1, which itself gives the recovery id and the low s of EIP-2. */
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type * as TinySecp256k1 from 'tiny-secp256k1';

const require = createRequire(import.meta.url);

let loaded: Secp256k1 | undefined;

/**
 * libsecp256k1 as machine code, where the package has it for this system. Otherwise as WebAssembly, which is slower and
 * runs everywhere. Loaded at the first use: the main thread checks what key services sign, and often uses none.
 */
function curve(): Secp256k1 {
  loaded ??= loadNativeSecp256k1() ?? loadWasmSecp256k1();
  return loaded;
}

/** Whether 32 bytes are a private key: a scalar from 1 to the group order less one. */
export function isSecp256k1Scalar(key: Uint8Array): boolean {
  return key.length === 32 && curve().isScalar(key);
}

/** A point of the curve, compressed or not, as 65 bytes `04 ‖ X ‖ Y`; undefined when it is none. */
export function uncompressedPoint(point: Uint8Array): Uint8Array | undefined {
  return curve().pointOf(point);
}

/**
 * The public key of a scalar: 65 bytes, `04 ‖ X ‖ Y`.
 * @throws Error when the scalar is out of range
 */
export function secp256k1PublicKey(key: Uint8Array): Uint8Array {
  const point = curve().multiplyBase(key);
  if (point === undefined) throw new Error('the key is not a secp256k1 scalar');
  return point;
}

/**
 * Signs a 32-byte digest deterministically (RFC 6979): 65 bytes, `r ‖ s ‖ recovery`.
 * @throws Error when the signature does not lead back to the public key, which only faulty hardware can cause
 */
export function signDigest(digest: Uint8Array, key: Uint8Array, publicKey: Uint8Array): Uint8Array {
  const { signature, recoveryId } = curve().sign(digest, key);
  const signed = new Uint8Array(65);
  signed.set(signature);
  signed[64] = recoveryId;
  assertSignedBy(digest, signed, publicKey);
  return signed;
}

/**
 * Checks that a key made a signature with its recovery id. One recovery proves both.
 * @throws Error
 */
export function assertSignedBy(digest: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): void {
  const recoveryId = signature[64];
  if (signature.length !== 65 || (recoveryId !== 0 && recoveryId !== 1)) {
    throw new Error('the signature is not r, s and a recovery id of 0 or 1');
  }
  const signer = curve().recover(digest, signature.subarray(0, 64), recoveryId);
  if (signer === undefined || Buffer.compare(signer, publicKey) !== 0) {
    throw new Error('the signature was made by another key');
  }
}

/**
 * The public key (65 bytes) that a signature with its recovery id leads back to. Undefined when no key can have made
 * it.
 */
export function recoverPublicKey(digest: Uint8Array, signature: Uint8Array): Uint8Array | undefined {
  const recoveryId = signature[64];
  if (signature.length !== 65 || (recoveryId !== 0 && recoveryId !== 1)) return undefined;
  return curve().recover(digest, signature.subarray(0, 64), recoveryId);
}

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

/** The functions of the package's binding that are used. They throw where libsecp256k1 refuses. */
interface Binding {
  contextRandomize(seed: Uint8Array): void;
  privateKeyVerify(key: Uint8Array): boolean;
  publicKeyCreate(key: Uint8Array, compressed: boolean): Uint8Array;
  publicKeyConvert(point: Uint8Array, compressed: boolean): Uint8Array;
  ecdsaSign(digest: Uint8Array, key: Uint8Array): { signature: Uint8Array; recid: number };
  ecdsaRecover(signature: Uint8Array, recoveryId: number, digest: Uint8Array, compressed: boolean): Uint8Array;
}

/** libsecp256k1 as machine code; undefined on a system for which the package has none. */
export function loadNativeSecp256k1(): Secp256k1 | undefined {
  const binding = load();
  if (binding === undefined) return undefined;
  // Blinds signing, so that its time and its use of the processor show nothing of the key.
  binding.contextRandomize(randomBytes(32));
  return {
    isScalar: (key) => binding.privateKeyVerify(key),
    pointOf: (encoded) => unlessRefused(() => binding.publicKeyConvert(encoded, false)),
    multiplyBase: (scalar) => unlessRefused(() => binding.publicKeyCreate(scalar, false)),
    sign: (digest, key) => {
      const { signature, recid: recoveryId } = binding.ecdsaSign(digest, key);
      return { signature, recoveryId };
    },
    recover: (digest, signature, recoveryId) =>
      unlessRefused(() => binding.ecdsaRecover(signature, recoveryId, digest, false)),
  };
}

/**
 * Loads the binding directly. Without a binding, the package's own entry loads slow JavaScript that does not run in
 * constant time. `overrides` in package.json replaces that JavaScript by an empty package.
 */
function load(): Binding | undefined {
  try {
    return require('secp256k1/bindings.js') as Binding;
  } catch {
    return undefined;
  }
}

function unlessRefused(point: () => Uint8Array): Uint8Array | undefined {
  try {
    return point();
  } catch {
    return undefined;
  }
}

/** libsecp256k1 as WebAssembly. It is loaded only on demand, because few systems need it. */
export function loadWasmSecp256k1(): Secp256k1 {
  const wasm = require('tiny-secp256k1') as typeof TinySecp256k1;
  return {
    isScalar: (key) => wasm.isPrivate(key),
    pointOf: (encoded) => (wasm.isPoint(encoded) ? wasm.pointCompress(encoded, false) : undefined),
    multiplyBase: (scalar) => (wasm.isPrivate(scalar) ? (wasm.pointFromScalar(scalar, false) ?? undefined) : undefined),
    sign: (digest, key) => wasm.signRecoverable(digest, key),
    recover: (digest, signature, recoveryId) => {
      try {
        return wasm.recover(digest, signature, recoveryId, false) ?? undefined;
      } catch {
        // It throws for an r or s that is no scalar.
        return undefined;
      }
    },
  };
}
