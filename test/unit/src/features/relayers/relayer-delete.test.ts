import t from 'tap';
import { operatorOnce } from '../../../../support/caller.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';
import { settingsStage } from '../../../../support/settings-stage.ts';
import { relayerOf, transactionOf } from '../../../../support/store.ts';

t.test('a relayer goes when nothing of it is under way', async (t) => {
  const { remove, store, rechecked, audit } = await settingsStage(t);
  await store.write((writer) => writer.putRelayer(relayerOf({ id: 'old', network: 'sepolia' })));
  const open = transactionOf({ relayerId: 'old' });
  await store.write((writer) => writer.insertTransaction(open));
  for (const [seen, status] of [
    ['pending', 'sent'],
    ['sent', 'submitted'],
    ['submitted', 'mined'],
    ['mined', 'confirmed'],
  ] as const) {
    await t.rejects(remove('old'), {
      code: 'RELAYER_BUSY',
      status: 409,
      publicMessage: 'Relayer is in use',
      message: /^Cannot delete relayer 'old' because it has 1 transaction\(s\)\. /,
    });
    await store.write((writer) => writer.updateTransaction(open.id, seen, { status }));
  }
  await remove('old');
  t.equal(await store.read.relayer('old'), undefined);
  t.strictSame(rechecked, ['old'], 'whoever watches it is told');
  t.match(await audit(), [{ action: 'delete', resourceId: 'old', before: { id: 'old' }, after: null }]);
  t.ok(await store.read.transactionOfLane(open.lane, open.id), 'what has ended is kept');
  await t.rejects(remove('old'), { code: 'RELAYER_NOT_FOUND', status: 404 });
});

t.test('under one name it goes once', async (t) => {
  const { remove, store } = await settingsStage(t);
  await store.write((writer) => writer.putRelayer(relayerOf({ id: 'old' })));
  const once = operatorOnce(await keyedEffect(store));
  await remove('old', once);
  await remove('old', once);
  t.equal(await store.read.relayer('old'), undefined);
});
