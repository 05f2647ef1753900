import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Secp256k1 } from './curve.ts';

const require = createRequire(import.meta.url);

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
export function nativeCurve(): Secp256k1 | undefined {
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
