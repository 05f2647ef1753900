import t, { type Test } from 'tap';
import { createPluginsService, pluginFieldDigest } from '../../../../../src/features/plugins/plugins.ts';
import { undeclaredPluginEntry } from '../../../../../src/features/plugins/records/plugin.ts';
import { OPERATOR, operatorOnce } from '../../../../support/caller.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';
import { storeFor } from '../../../../support/store.ts';

const ENTRY = { ...undeclaredPluginEntry('p', 'p.ts'), config: { token: 'canary' } };

async function stage(t: Test) {
  const store = await storeFor(t);
  const told: string[] = [];
  const service = createPluginsService({ store, feed: { changed: async (kind) => void told.push(kind) } });
  const update = (body: unknown, by = OPERATOR) => service.update(ENTRY, body, by);
  const stored = () => store.read.storedPlugin('p');
  const audit = async () => (await store.read.auditRecords({ before: null, limit: 9 }, { resource: 'plugin' })).items;
  return { store, service, update, stored, audit, told };
}

t.test('what is given is kept, with what was declared; what is absent or null stays', async (t) => {
  const { update, stored, told } = await stage(t);
  await update({ timeout: 5, emit_logs: true, raw_response: null });
  t.strictSame(await stored(), {
    pluginId: 'p',
    settings: { timeout: 5, emit_logs: true },
    isDisabled: false,
    declared: { timeout: pluginFieldDigest(ENTRY, 'timeout'), emit_logs: pluginFieldDigest(ENTRY, 'emit_logs') },
  });
  await update({ emit_logs: false, config: { other: 1 } });
  t.match(await stored(), { settings: { timeout: 5, emit_logs: false, config: { other: 1 } } });
  await update({ config: null, timeout: null });
  t.match(await stored(), { settings: { timeout: 5, config: null } }, 'null clears a configuration');
  t.strictSame(told, ['plugin', 'plugin', 'plugin']);
});

t.test('a value that comes back as it was hidden stays', async (t) => {
  const { update, stored } = await stage(t);
  const hidden = '[hidden]';
  await update({ config: { token: hidden, mode: 'quick' } });
  t.match(await stored(), { settings: { config: { token: 'canary', mode: 'quick' } } }, 'as it was declared');
  await update({ config: { token: 'new', mode: hidden } });
  await update({ config: { token: hidden } });
  t.strictSame((await stored())?.settings, { config: { token: 'new' } }, 'as a client gave it');
  await t.rejects(update({ config: { mode: hidden } }), { code: 'INVALID_REQUEST', message: /^config\.mode: / });
});

t.test('a faulty body changes nothing', async (t) => {
  const { update, stored } = await stage(t);
  for (const [body, message] of [
    [{ timeout: 0 }, 'timeout: Timeout must be greater than 0'],
    [{ timeOut: 5 }, 'unknown field `timeOut`, did you mean `timeout`?'],
    [{ permissions: {} }, /^unknown field `permissions`, expected one of/],
    [[], /^the body: /],
  ] as const) {
    await t.rejects(update(body), { code: 'INVALID_REQUEST', message }, JSON.stringify(body));
  }
  t.equal(await stored(), undefined);
});

t.test('a plugin is disabled and enabled, and keeps its settings', async (t) => {
  const { service, update, stored } = await stage(t);
  await update({ timeout: 5 });
  await service.enable(ENTRY, false, OPERATOR);
  t.match(await stored(), { settings: { timeout: 5 }, isDisabled: true });
  await service.enable(ENTRY, true, OPERATOR);
  t.match(await stored(), { settings: { timeout: 5 }, isDisabled: false });
});

t.test('a change leaves a record with the keys of a configuration only', async (t) => {
  const { service, update, audit } = await stage(t);
  await update({ timeout: 5, config: { token: 'another canary' } });
  await service.enable(ENTRY, false, OPERATOR);
  await service.enable(ENTRY, false, OPERATOR);
  const records = await audit();
  t.match(records, [
    { before: { enabled: true }, after: { enabled: false } },
    { action: 'update', resourceId: 'p', before: { timeout: 300 }, after: { timeout: 5 }, secrets: ['config'] },
  ]);
  t.equal(records.length, 2);
  t.notMatch(JSON.stringify(records), 'canary');
});

t.test('under one name a change is made once', async (t) => {
  const { store, update, stored } = await stage(t);
  const once = operatorOnce(await keyedEffect(store));
  await update({ timeout: 5 }, once);
  await update({ timeout: 6 });
  await update({ timeout: 5 }, once);
  t.match(await stored(), { settings: { timeout: 6 } });
});
