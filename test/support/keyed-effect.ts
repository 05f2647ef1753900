import type { Claim, Effect } from '../../src/domain/idempotency.ts';
import type { Store } from '../../src/store/store.ts';

/** The first effect of a request that has claimed a key of its own. */
export async function keyedEffect(store: Store, payloadHash = 'payload'): Promise<Effect> {
  const { id } = await keyedClaim(store);
  return { claimId: id, ordinal: 0, payloadHash };
}

async function keyedClaim(store: Store): Promise<Claim> {
  const id = crypto.randomUUID();
  const request = { scope: 'test', key: id, fingerprint: 'print' };
  const state = await store.write((writer) =>
    writer.claimKey(request, { id, owner: 'test', forMs: 60_000, isAlone: false }),
  );
  if (state.kind !== 'claimed') throw new Error(`not claimed: ${state.kind}`);
  return state.claim;
}
