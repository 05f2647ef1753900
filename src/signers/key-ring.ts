import { openSigner, type SignerEntry, type SignerKinds } from './registry.ts';
import type { Signer, SignerTools } from './signer.ts';

/** The opened signers of a running service. */
export interface KeyRing {
  /** @throws when the configuration declares no such signer */
  signer(id: string): Signer;
  /** Wipes the keys. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Opens every declared signer, side by side.
 * @throws AggregateError with one error for each signer that cannot be opened; the others are closed again
 */
export async function openKeyRing(
  kinds: SignerKinds,
  entries: readonly SignerEntry[],
  tools: SignerTools,
): Promise<KeyRing> {
  const attempts = await Promise.allSettled(
    entries.map((entry) => openSigner(kinds, entry, { ...tools, reread: async () => entry.config })),
  );
  const signers = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
  const failures: unknown[] = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []));
  const close = async (): Promise<void> => {
    await Promise.all(signers.map((signer) => signer.close()));
  };
  if (failures.length > 0) {
    await close();
    throw new AggregateError(failures, 'Not every signer could be opened');
  }
  const byId = new Map(signers.map((signer) => [signer.id, signer]));
  return {
    signer(id) {
      const signer = byId.get(id);
      if (signer === undefined) throw new Error(`No signer ${id} is declared`);
      return signer;
    },
    close,
  };
}
