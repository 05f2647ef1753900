import t from 'tap';
import type { AuditedChange } from '../../../../src/features/audit/record.ts';
import { changeSettingsOnce } from '../../../../src/features/resource.ts';
import { OPERATOR, operatorOnce } from '../../../support/caller.ts';
import { keyedEffect } from '../../../support/keyed-effect.ts';
import { relayerOf, storeFor } from '../../../support/store.ts';

const ALL = { before: null, limit: 10 };

function auditOf(given: Partial<AuditedChange> = {}): AuditedChange {
  return { action: 'create', resource: 'relayer', resourceId: 'r1', before: null, after: { id: 'r1' }, ...given };
}

t.test('a change and its record are one commit', async (t) => {
  const store = await storeFor(t);
  const made = await changeSettingsOnce(store, OPERATOR, async (writer) => {
    await writer.putRelayer(relayerOf());
    return { outcome: 'made', audit: auditOf() };
  });
  t.match(made, { isRepeat: false, made: { outcome: 'made' } });
  t.match((await store.read.auditRecords(ALL, {})).items, [
    { ...auditOf(), keyId: 'operator', requestId: 'request-1' },
  ]);

  const failing = changeSettingsOnce(store, OPERATOR, async (writer) => {
    await writer.deleteRelayer('relayer-1');
    throw new Error('no');
  });
  await t.rejects(failing, { message: 'no' });
  t.ok(await store.read.relayer('relayer-1'));
  t.equal((await store.read.auditRecords(ALL, {})).items.length, 1);
});

t.test('what changes nothing leaves no record, unless it is a secret that changed', async (t) => {
  const store = await storeFor(t);
  const view = { id: 'r1', cap: 5n };
  const change = (given: Partial<AuditedChange>) =>
    changeSettingsOnce(store, OPERATOR, async () => ({ outcome: null, audit: auditOf({ before: view, ...given }) }));
  await change({ after: { ...view } });
  await change({ after: { ...view }, secrets: ['signing_key'] });
  await change({ after: { ...view, cap: 6n } });
  const { items } = await store.read.auditRecords(ALL, {});
  t.match(items, [{ after: { cap: 6 } }, { secrets: ['signing_key'] }]);
  t.equal(items.length, 2);
});

t.test('under one name there is one change and one record', async (t) => {
  const store = await storeFor(t);
  const once = operatorOnce(await keyedEffect(store));
  const change = () => changeSettingsOnce(store, once, async () => ({ outcome: 7, audit: auditOf() }));
  const both = await Promise.all([change(), change()]);
  t.equal(both.filter(({ isRepeat }) => isRepeat).length, 1);
  t.match(both, [{ made: { outcome: 7 } }, { made: { outcome: 7 } }]);
  t.equal((await store.read.auditRecords(ALL, {})).items.length, 1);
});
