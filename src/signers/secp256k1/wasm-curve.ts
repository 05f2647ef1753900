import { createRequire } from 'node:module';
import type * as TinySecp256k1 from 'tiny-secp256k1';
import type { Secp256k1 } from './curve.ts';

const require = createRequire(import.meta.url);

/** libsecp256k1 as WebAssembly. It is loaded only on demand, because few systems need it. */
export function wasmCurve(): Secp256k1 {
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
