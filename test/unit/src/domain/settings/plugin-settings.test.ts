import t from 'tap';
import { droppedInEntry } from '../../../../../src/domain/plugin.ts';
import {
  PLUGIN_SETTINGS,
  pluginSettingsSchema,
  pluginUpdateSchema,
  settingsView,
  withSettings,
} from '../../../../../src/domain/settings/plugin-settings.ts';

const ENTRY = { ...droppedInEntry('p', 'p.ts'), config: { token: 'secret' } };

t.test('an entry takes what clients made of it, and keeps the rest', (t) => {
  t.strictSame(withSettings(ENTRY, {}), ENTRY);
  t.strictSame(withSettings(ENTRY, { timeout: 5, emit_logs: true }), { ...ENTRY, timeout: 5, emit_logs: true });
  t.strictSame(withSettings(ENTRY, { config: { other: 1 } }).config, { other: 1 });
  t.notOk('config' in withSettings(ENTRY, { config: null }), 'none');
  t.end();
});

t.test('of a configuration only the keys are shown', (t) => {
  t.strictSame(settingsView(ENTRY), {
    timeout: 300,
    emit_logs: false,
    emit_traces: false,
    emit_usage: false,
    raw_response: false,
    allow_get_invocation: false,
    forward_logs: false,
    config: { token: '[hidden]' },
  });
  t.equal(settingsView(droppedInEntry('p', 'p.ts'))['config'], null);
  t.strictSame(Object.keys(settingsView(ENTRY)), PLUGIN_SETTINGS);
  t.end();
});

t.test('a body may change these fields only, and a timeout is whole seconds from 1', (t) => {
  t.ok(pluginUpdateSchema.safeParse({}).success);
  t.ok(pluginUpdateSchema.safeParse(Object.fromEntries(PLUGIN_SETTINGS.map((name) => [name, null]))).success);
  for (const body of [
    { timeout: 0 },
    { timeout: 1.5 },
    { timeout: 86_401 },
    { timeout: '5' },
    { timeout: { secs: 5 } },
  ]) {
    t.notOk(pluginUpdateSchema.safeParse(body).success, JSON.stringify(body));
  }
  for (const body of [{ config: [] }, { config: 'x' }, { limits: {} }, { permissions: {} }, { emit_logs: 1 }]) {
    t.notOk(pluginUpdateSchema.safeParse(body).success, JSON.stringify(body));
  }
  t.notOk(pluginSettingsSchema.safeParse({ timeout: null }).success, 'what is stored is set');
  t.ok(pluginSettingsSchema.safeParse({ config: null }).success);
  t.end();
});
