import t from 'tap';
import { DEFAULT_LIMITS } from '../../../../../sandbox/protocol.ts';
import { pluginEntrySchema } from '../../../../../src/domain/plugin.ts';
import { pluginCalls, pluginSchema, pluginViews } from '../../../../../src/http/openapi/plugin-operations.ts';

t.test('a plugin is shown with every key of its entry and every limit', (t) => {
  const shown = Object.keys(pluginSchema.shape);
  for (const key of Object.keys(pluginEntrySchema.shape)) t.ok(shown.includes(key), key);
  t.strictSame(Object.keys(pluginSchema.shape.limits.shape).toSorted(), Object.keys(DEFAULT_LIMITS).toSorted());
  t.end();
});

t.test('calls may be refused for a method that is off, views only for want of the plugin', (t) => {
  t.strictSame(Object.keys(pluginCalls()).length, 4);
  t.ok(pluginCalls()['GET /plugins/:id/call']?.errors.includes('PLUGIN_GET_DISABLED'));
  t.strictSame(pluginViews['GET /api/v1/plugins/:id']?.errors, ['PLUGIN_NOT_FOUND']);
  t.end();
});
