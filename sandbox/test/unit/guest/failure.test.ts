import t from 'tap';
import { fc } from '../../../../test/support/properties.ts';
import { describeFailure } from '../../../guest/failure.ts';
import { PLUGIN_ERROR_CLASS, PluginError } from '../../../guest/plugin-error.ts';

const described = (thrown: unknown) => describeFailure(thrown, 1000).outcome;

t.test('takes message, code, status and details from whatever was thrown', (t) => {
  const lines: [thrown: unknown, message: string, code: string, status: number, details: string][] = [
    [new Error('m'), 'm', 'PLUGIN_ERROR', 500, '{}'],
    [new Error(''), 'Error', 'PLUGIN_ERROR', 500, '{}'],
    [new TypeError('m'), 'm', 'TYPE_ERROR', 500, '{}'],
    [new ReferenceError('m'), 'm', 'REFERENCE_ERROR', 500, '{}'],
    [new SyntaxError('m'), 'm', 'SYNTAX_ERROR', 500, '{}'],
    [new RangeError('m'), 'm', 'PLUGIN_ERROR', 500, '{}'],
    [Object.assign(new TypeError('m'), { code: 'LOST' }), 'm', 'TYPE_ERROR', 500, '{}'],
    [{ message: 'm', code: 'C', status: 422, details: { a: [1] } }, 'm', 'C', 422, '{"a":[1]}'],
    [{ message: 'm', code: 20 }, 'm', '20', 500, '{}'],
    [{ message: 'm', code: '' }, 'm', 'PLUGIN_ERROR', 500, '{}'],
    [{ message: 'm', code: {} }, 'm', 'PLUGIN_ERROR', 500, '{}'],
    [{ message: 'm', details: 0 }, 'm', 'PLUGIN_ERROR', 500, '0'],
    [{ message: 'm', details: null }, 'm', 'PLUGIN_ERROR', 500, '{}'],
    [{ message: 'm', code: 'SERVICE_UNAVAILABLE', status: 503 }, 'm', 'SERVICE_UNAVAILABLE', 503, '{}'],
    [{ message: 7 }, '7', 'PLUGIN_ERROR', 500, '{}'],
    [{ code: 'OBJ' }, '[object Object]', 'OBJ', 500, '{}'],
    [{ message: '  ' }, 'Plugin execution failed', 'PLUGIN_ERROR', 500, '{}'],
    ['text', 'text', 'PLUGIN_ERROR', 500, '{}'],
    [undefined, 'undefined', 'PLUGIN_ERROR', 500, '{}'],
    [null, 'null', 'PLUGIN_ERROR', 500, '{}'],
    [Symbol('s'), 'Symbol(s)', 'PLUGIN_ERROR', 500, '{}'],
  ];
  for (const [thrown, message, code, status, details] of lines) {
    t.strictSame(described(thrown), { kind: 'threw', message, code, status, details });
  }
  t.end();
});

t.test('a status that ends no HTTP exchange counts as 500', (t) => {
  for (const status of [200, 404, 599]) t.equal(described({ status }).status, status);
  for (const status of [0, 99, 100, 199, 600, -1, 404.5, Number.NaN, '404', 404n, null]) {
    t.equal(described({ status }).status, 500, String(status));
  }
  t.end();
});

t.test('says why details were dropped', (t) => {
  const dropped = (details: unknown) => describeFailure({ message: 'm', details }, 1000).droppedDetails;
  t.equal(dropped({ a: 1 }), null);
  t.equal(dropped(undefined), null);
  t.equal(dropped({ a: [1n] }), 'details.a[0] is a BigInt');
  t.match(dropped('x'.repeat(2000)), /limit is 1000 bytes/);
  t.equal(dropped({ toJSON: () => t.context.missing.property }), 'reading them failed');
  t.end();
});

t.test('is bounded and never throws', (t) => {
  t.match(described('x'.repeat(10_000)).message, /^x{8192}… \(1808 more characters\)$/);
  t.equal(described({ code: 'x'.repeat(1000) }).code.length < 300, true);
  const thrower = () => {
    throw new Error('trap');
  };
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const hostile of [proxy, Object.create(null), new Proxy({}, { get: thrower }), { toString: thrower }]) {
    t.match(described(hostile), { message: /cannot be turned into text/, code: 'PLUGIN_ERROR', status: 500 });
  }
  fc.assert(fc.property(fc.anything(), (thrown) => described(thrown).message !== ''));
  t.end();
});

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
