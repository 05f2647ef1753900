import { AppError, messageOf } from '../domain/errors.ts';
import { type Ed25519Pair, ed25519Pair } from './ed25519.ts';
import { isSecp256k1Scalar, secp256k1PublicKey, signDigest } from './secp256k1.ts';
import type { Curve, Signer } from './signer.ts';

/** Thrown when a key cannot be opened or used. The message says why and shows nothing of the key. */
export class KeyFault extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'KeyFault';
  }
}

/** A key of 32 bytes: a secp256k1 scalar on one curve, an Ed25519 seed on the other. */
export interface HeldKey {
  /** Like {@link import('./signer.ts').Signer.publicKey}; returns a copy. @throws KeyFault */
  publicKey(curve: Curve): Uint8Array;
  /** Like {@link import('./signer.ts').Signer.sign}. @throws KeyFault */
  sign(curve: Curve, payload: Uint8Array): Uint8Array;
  /** Zeroes the key, and ends signing. Safe to call twice. */
  wipe(): void;
}

/** Takes the buffer over. The key lives only in a closure, so that no part of it can be printed. */
export function holdKey(key: Uint8Array): HeldKey {
  let isWiped = false;
  let secpPublicKey: Uint8Array | undefined;
  let edPair: Ed25519Pair | undefined;

  function secp256k1(): Uint8Array {
    if (secpPublicKey !== undefined) return secpPublicKey;
    if (!isSecp256k1Scalar(key)) throw new KeyFault('the key is zero or not below the order of secp256k1');
    secpPublicKey = secp256k1PublicKey(key);
    return secpPublicKey;
  }

  function ed25519(): Ed25519Pair {
    edPair ??= ed25519Pair(key);
    return edPair;
  }

  function assertOpen(): void {
    if (isWiped) throw new KeyFault('it is closed');
  }

  return {
    publicKey(curve) {
      assertOpen();
      return Uint8Array.from(curve === 'secp256k1' ? secp256k1() : ed25519().publicKey);
    },
    sign(curve, payload) {
      assertOpen();
      if (curve === 'ed25519') return ed25519().sign(payload);
      if (payload.length !== 32) throw new KeyFault(`a digest has 32 bytes, not ${payload.length}`);
      return signDigest(payload, key, secp256k1());
    },
    wipe() {
      isWiped = true;
      edPair = undefined;
      key.fill(0);
    },
  };
}

/**
 * A signer with a key of 32 bytes that signs in the calling thread. It takes the buffer over and wipes it when closed.
 */
export function createKeySigner(id: string, key: Uint8Array): Signer {
  const held = holdKey(key);

  async function attempt<T>(use: () => T): Promise<T> {
    try {
      return use();
    } catch (error) {
      throw new AppError('SIGNER_FAILED', { id, reason: messageOf(error) }, { cause: error });
    }
  }

  return {
    id,
    publicKey: (curve) => attempt(() => held.publicKey(curve)),
    sign: (curve, payload) => attempt(() => held.sign(curve, payload)),
    async close() {
      held.wipe();
    },
  };
}
