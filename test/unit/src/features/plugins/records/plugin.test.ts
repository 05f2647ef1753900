import '../../../../../../src/domain/json/issue-text.ts';
import t from 'tap';
import { DEFAULT_LIMITS } from '../../../../../../sandbox/contract.ts';
import {
  canonicalHostname,
  hostPattern,
  hostPermissionSchema,
} from '../../../../../../src/features/plugins/records/host-permission.ts';
import { pluginEntrySchema, undeclaredPluginEntry } from '../../../../../../src/features/plugins/records/plugin.ts';

t.test('an entry of the reference’s shape is complete', (t) => {
  const entry = pluginEntrySchema.parse({ id: 'example', path: 'examples/example.ts', timeout: 30, emit_logs: true });
  t.equal(entry.timeout, 30);
  t.equal(entry.emit_logs, true);
  t.equal(entry.emit_traces, false);
  t.equal(entry.permissions, undefined, 'absent permissions stay absent: every relayer and kv');
  t.same(entry.limits, { ...DEFAULT_LIMITS, lifetime: '24h' });
  t.end();
});

t.test('where permissions are present, each absent key is denied', (t) => {
  const { permissions } = pluginEntrySchema.parse({ id: 'p', path: 'p.ts', permissions: {} });
  t.same(permissions, { relayers: {}, hosts: [], env: [], kv: false });
  t.end();
});

t.test('given limits are completed with the defaults', (t) => {
  const { limits } = pluginEntrySchema.parse({ id: 'p', path: 'p.ts', limits: { slice_ms: 100 } });
  t.same(limits, { ...DEFAULT_LIMITS, slice_ms: 100, lifetime: '24h' });
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
    ['no lifetime', { limits: { lifetime: '7' } }],
    ['too long a lifetime', { limits: { lifetime: '91d' } }],
    ['config is not an object', { config: 3 }],
  ];
  for (const [name, fields] of wrong) {
    t.notOk(pluginEntrySchema.safeParse({ id: 'p', path: 'p.ts', ...fields }).success, name);
  }
  t.end();
});

t.test('a dropped-in script has an entry of defaults', (t) => {
  t.same(undeclaredPluginEntry('hello', 'hello.ts'), pluginEntrySchema.parse({ id: 'hello', path: 'hello.ts' }));
  t.end();
});

t.test('what a plugin may do through a relayer is a list, or an object with limits', (t) => {
  const relayers = (value: unknown) =>
    pluginEntrySchema.safeParse({ id: 'p', path: 'p.ts', permissions: { relayers: { r: value } } });
  t.strictSame(relayers(['read', 'send']).data?.permissions?.relayers, { r: { methods: ['read', 'send'] } });
  const limited = { methods: ['send'], selectors: ['0x'], value_per_call: 1, value_per_hour: '1'.padEnd(30, '0') };
  t.strictSame(relayers(limited).data?.permissions?.relayers, { r: limited });
  const wrong: [string, unknown, RegExp][] = [
    ['an unknown key', { methods: ['send'], value_per_huor: 1 }, /`value_per_huor`/],
    ['no methods', { value_per_hour: 1 }, /missing: expected a list/],
    ['a limit of what is not granted', { methods: ['read'], value_per_hour: 1 }, /"send" is not among the methods/],
    [
      'signatures beside a limit',
      { methods: ['send', 'sign'], fee_per_hour: 1 },
      /"sign" cannot stand beside fee_per_hour/,
    ],
    ['nobody to send to', { methods: ['send'], recipients: [] }, /name at least one/],
    ['a fraction', { methods: ['send'], value_per_hour: 0.5 }, /expected an integer/],
    ['a number that lost digits', { methods: ['send'], value_per_hour: 2 ** 60 }, /expected an integer/],
    ['a negative amount', { methods: ['send'], value_per_call: '-1' }, /negative/],
  ];
  for (const [name, value, fault] of wrong)
    t.match(
      relayers(value)
        .error?.issues.map(({ message }) => message)
        .join(),
      fault,
      name,
    );
  t.end();
});

t.test('a grant names a host as a URL would', (t) => {
  const name = (text: string) => hostPattern(text)?.name;
  t.strictSame(hostPattern('api.example.com'), { name: 'api.example.com', isWildcard: false, port: undefined });
  t.strictSame(hostPattern('*.Example.com:8443'), { name: 'example.com', isWildcard: true, port: 8443 });
  t.equal(name('API.example.com.'), 'api.example.com', 'case and the dot at the end say nothing');
  t.equal(name('bücher.example'), 'xn--bcher-kva.example');
  t.equal(name('0x7f.1:80'), '127.0.0.1', 'an address in any spelling is that address');
  t.equal(name('[::1]:3000'), '[::1]');
  t.equal(canonicalHostname(new URL('https://api.example.com./')), 'api.example.com');
  t.end();
});

t.test('what is no host is refused', (t) => {
  for (const text of [
    '',
    '*',
    '*.',
    'a.*.com',
    'https://api.example.com',
    'api.example.com/path',
    'user@api.example.com',
    'api.example.com:0',
    'api.example.com:70000',
    'a b',
    'a?b',
    'a#b',
    '*.127.0.0.1',
    '*.[::1]',
  ]) {
    t.equal(hostPattern(text), undefined, text);
  }
  t.end();
});

t.test('an entry is a name, or an object with its limits', (t) => {
  const plain = hostPermissionSchema.parse('api.example.com');
  t.strictSame(plain, { host: 'api.example.com', max_bytes: 1_048_576, timeout_ms: 10_000, private: false });
  const full = { host: 'localhost:3000', methods: ['GET'], max_bytes: 10, timeout_ms: 5, private: true };
  t.strictSame(hostPermissionSchema.parse(full), full);
  const message = (value: unknown) => hostPermissionSchema.safeParse(value).error?.issues[0]?.message;
  t.match(message('https://x'), /api\.example\.com/);
  t.match(message({ host: 'x', methods: [] }), /name at least one/);
  t.match(message({ host: '*.x.test', private: true }), /wildcard cannot open/);
  for (const more of [
    { methods: ['TRACE'] },
    { max_bytes: 0 },
    { max_bytes: 2 ** 30 },
    { timeout_ms: 0 },
    { other: 1 },
  ]) {
    t.not(message({ host: 'x', ...more }), undefined, JSON.stringify(more));
  }
  t.end();
});
