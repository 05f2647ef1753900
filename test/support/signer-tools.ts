import { systemClock } from '../../src/domain/clock.ts';
import { NO_METRICS } from '../../src/observability/metrics.ts';
import { createKeySigner } from '../../src/signers/held-key.ts';
import { openKeystoreFile } from '../../src/signers/keystore.ts';
import type { KeyHolder, KindTools } from '../../src/signers/signer.ts';

/** The tools for opening a signer. They ask no service: each secret is the given text. */
export function signerTools(secret = 'secret', more: Partial<KindTools> = {}): KindTools {
  const nobody = () => Promise.reject(new Error('nobody is asked here'));
  return {
    secrets: () => secret,
    http: { get: nobody, post: nobody },
    identity: { get: nobody, post: nobody },
    random: () => 0,
    clock: systemClock,
    metrics: NO_METRICS,
    keys: keysHere,
    reread: nobody,
    ...more,
  };
}

/** Keeps keys in the calling thread, in place of the thread for keys. */
export const keysHere: KeyHolder = {
  async open(id, material) {
    const given = await material();
    return createKeySigner(
      id,
      given.kind === 'key' ? given.bytes : await openKeystoreFile(given.path, given.passphrase),
    );
  },
};
