import t from 'tap';
import { PLUGIN_ERROR_CLASS, PluginError } from '../../../../sandbox/guest/plugin-error.ts';

t.test('always has its three properties', (t) => {
  const bare = new PluginError('m');
  t.ok(bare instanceof Error);
  t.equal(bare.name, 'PluginError');
  t.equal(String(bare), 'PluginError: m');
  t.strictSame(Object.keys(bare), ['code', 'status', 'details']);
  t.match(new PluginError('m', { code: 'C', status: 422, details: { a: 1 } }), {
    code: 'C',
    status: 422,
    details: { a: 1 },
  });
  t.equal(PLUGIN_ERROR_CLASS, Symbol.for('isolayer.PluginError'));
  t.end();
});
