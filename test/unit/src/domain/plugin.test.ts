import t from 'tap';
import { DEFAULT_LIMITS } from '../../../../sandbox/protocol.ts';
import { droppedInEntry, pluginEntrySchema } from '../../../../src/domain/plugin.ts';

t.test('an entry of the reference’s shape is complete', (t) => {
  const entry = pluginEntrySchema.parse({ id: 'example', path: 'examples/example.ts', timeout: 30, emit_logs: true });
  t.equal(entry.timeout, 30);
  t.equal(entry.emit_logs, true);
  t.equal(entry.emit_traces, false);
  t.equal(entry.permissions, undefined, 'absent permissions stay absent: every relayer and kv');
  t.same(entry.limits, DEFAULT_LIMITS);
  t.end();
});

t.test('where permissions are present, each absent key is denied', (t) => {
  const { permissions } = pluginEntrySchema.parse({ id: 'p', path: 'p.ts', permissions: {} });
  t.same(permissions, { relayers: {}, hosts: [], env: [], kv: false });
  t.end();
});

t.test('given limits are completed with the defaults', (t) => {
  const { limits } = pluginEntrySchema.parse({ id: 'p', path: 'p.ts', limits: { slice_ms: 100 } });
  t.same(limits, { ...DEFAULT_LIMITS, slice_ms: 100 });
  t.end();
});

t.test('wrong fields are refused', (t) => {
  const wrong: [string, object][] = [
    ['unknown key', { timout: 3 }],
    ['zero timeout', { timeout: 0 }],
    ['fraction', { timeout: 1.5 }],
    ['unknown grant', { permissions: { relayers: { r: ['steal'] } } }],
    ['unknown limit', { limits: { cpu: 1 } }],
    ['limit out of bounds', { limits: { memory_mb: 1 } }],
    ['config is not an object', { config: 3 }],
  ];
  for (const [name, fields] of wrong) {
    t.notOk(pluginEntrySchema.safeParse({ id: 'p', path: 'p.ts', ...fields }).success, name);
  }
  t.end();
});

t.test('a dropped-in script has an entry of defaults', (t) => {
  t.same(droppedInEntry('hello', 'hello.ts'), pluginEntrySchema.parse({ id: 'hello', path: 'hello.ts' }));
  t.end();
});
