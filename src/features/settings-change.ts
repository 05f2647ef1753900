import { writeJson } from '../domain/json/json-text.ts';
import type { Store, StoreWriter } from '../store/store.ts';
import type { Caller } from './api-keys/records/caller.ts';
import type { AuditedChange } from './audit/record.ts';
import { inWriteOnce, type OnceResult, type WriteResult } from './effects.ts';

/** A change of settings and its audit record. */
export interface SettingsChange extends WriteResult {
  audit: AuditedChange;
}

/**
 * Makes a change of settings and its audit record in one commit, once for each keyed request. The body's reads stay
 * valid until the commit: no other change of settings comes in between. A change without a difference has no record.
 */
export async function changeSettingsOnce<T extends SettingsChange>(
  store: Pick<Store, 'write'>,
  { keyId, requestId, effect }: Caller,
  body: (writer: StoreWriter) => Promise<T>,
): Promise<OnceResult<T>> {
  return await store.write(async (writer) => {
    await writer.lockSettings();
    return await inWriteOnce(writer, effect, async () => {
      const made = await body(writer);
      if (hasChanged(made.audit)) await writer.insertAuditRecord({ ...made.audit, keyId, requestId });
      return made;
    });
  });
}

function hasChanged({ before, after, secrets = [] }: AuditedChange): boolean {
  return secrets.length > 0 || writeJson(before) !== writeJson(after);
}
