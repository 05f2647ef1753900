import type { Log } from '../../observability/log.ts';
import type { SignerEntry } from '../../signers/registry.ts';
import type { Store } from '../../store/store.ts';

/**
 * Merges the configured signers with clients' signers. If both have the same id, the configured signer counts. With
 * `reset`, clients' signers that no relayer uses are deleted.
 */
export async function applySigners(
  store: Pick<Store, 'write'>,
  declared: readonly Pick<SignerEntry, 'id'>[],
  log: Log,
  { reset = false } = {},
): Promise<void> {
  const known = new Set(declared.map(({ id }) => id));
  const hidden = await store.write(async (writer) => {
    const used = new Set((await writer.allRelayers()).map(({ signerId }) => signerId));
    const kept: string[] = [];
    for (const { id } of await writer.allSigners()) {
      if (reset && (!used.has(id) || known.has(id))) await writer.deleteSigner(id);
      else if (known.has(id)) kept.push(id);
    }
    return kept;
  });
  for (const id of hidden)
    log.warn({ signer: id }, 'a signer of the configuration replaces one that was made over the API');
}
