import { systemClock } from '../../src/domain/clock.ts';
import type { SignerTools } from '../../src/signers/signer.ts';

/** What a signer is opened with that asks nobody: each secret is the given text. */
export function signerTools(secret = 'secret', more: Partial<SignerTools> = {}): SignerTools {
  const nobody = () => Promise.reject(new Error('nobody is asked here'));
  return {
    secrets: () => secret,
    http: { get: nobody, post: nobody },
    random: () => 0,
    clock: systemClock,
    metrics: { asked() {} },
    ...more,
  };
}
