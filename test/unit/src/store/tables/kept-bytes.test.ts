// The store contract tests what kept bytes promise. This file tests what is only visible inside the store.
import t from 'tap';
import { storeFor } from '../../../../support/store.ts';

t.test('an answer as small as most are is kept without a look at the quota', async (t) => {
  const store = await storeFor(t);
  const keep = async (key: string, bytes: number) => {
    const request = { scope: 's', key, fingerprint: 'f' };
    const claimant = { id: key, owner: 'o', forMs: 60_000, isAlone: false };
    const answer = { status: 200, body: 'x'.repeat(bytes) };
    await store.write(async (writer) => {
      const state = await writer.claimKey(request, claimant);
      if (state.kind !== 'claimed') throw new Error(state.kind);
      await writer.keepAnswer(state.claim, answer, { onlyAfterEffects: false, quotaBytes: 0 });
    });
    const state = await store.write((writer) => writer.claimKey(request, claimant));
    return state.kind === 'answered' && state.answer.body?.length;
  };
  t.strictSame([await keep('most', 4096), await keep('large', 4097)], [4096, undefined]);
});
