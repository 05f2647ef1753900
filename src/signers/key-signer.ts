import { AppError, messageOf } from '../domain/errors.ts';
import { holdKey } from './held-key.ts';
import type { Signer } from './signer.ts';

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
