/**
 * Threat: a plugin that asks for what it was not granted, in the name of a call that is over or of another plugin, with
 * a payload that is no payload, or that listens to error texts for what happens inside.
 */
import t from 'tap';
import type { Json } from '../../../../sandbox/protocol.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import { AppError } from '../../../../src/domain/errors.ts';
import { pluginEntrySchema } from '../../../../src/domain/plugin.ts';
import { createLog } from '../../../../src/observability/log.ts';
import { RunningCalls } from '../../../../src/plugin-host/call-record.ts';
import { bindCapabilities } from '../../../../src/plugin-host/capabilities/table.ts';
import { Gateway } from '../../../../src/plugin-host/gateway.ts';
import { grantsOf } from '../../../../src/plugin-host/grants.ts';
import { RecordedMetrics } from '../../../support/plugin-host.ts';
import { PluginServices } from '../../../support/plugin-services.ts';
import { KEEPING } from '../../../support/principal.ts';

function setUp(permissions?: object, maxCalls = 100, claimId?: string) {
  const services = new PluginServices();
  const metrics = new RecordedMetrics();
  const lines: string[] = [];
  const calls = new RunningCalls();
  const gateway = new Gateway({
    capabilities: bindCapabilities(services),
    calls,
    log: createLog('debug', { write: (line) => lines.push(line) }),
    metrics,
    clock: systemClock,
    uuid: () => 'uuid-1',
  });
  const entry = pluginEntrySchema.parse({ id: 'p', path: 'p.ts', ...(permissions && { permissions }) });
  const plugin = { id: 'p', grants: grantsOf(entry), maxCalls, ...KEEPING };
  const record = calls.begin({ slot: 1, plugin, requestId: 'req-1', callerKeyId: 'k', claimId });
  const ask = (method: string, params: unknown, slot = 1) =>
    gateway.answer(slot, record.call, { id: 1, method, params: params as Json });
  return { services, metrics, lines, calls, record, ask };
}

const refusal = (message: string) => ({ ok: false, error: { message } });
const send = { relayerId: 'known', request: { to: '0x1' } };

t.test('a granted call reaches the service, is counted, traced, and is an effect', async (t) => {
  const { services, metrics, record, ask } = setUp();
  t.strictSame(await ask('relayer.getRelayer', { relayerId: 'known' }), {
    ok: true,
    value: { id: 'known', paused: false },
  });
  t.equal(record.hadEffect, false);
  t.match(await ask('relayer.sendTransaction', send), { ok: true, value: { nonce: 7, value: (2n ** 70n).toString() } });
  t.equal(record.hadEffect, true);
  t.same(services.sent, [{ relayerId: 'known', body: { to: '0x1' } }]);
  t.match(record.traces.entries(0), [
    { method: 'getRelayer', relayerId: 'known', requestId: 'uuid-1', payload: {}, outcome: 'ok' },
    { method: 'sendTransaction', payload: { to: '0x1' }, outcome: 'ok' },
  ]);
  t.same(metrics.lines, ['capability p relayer.getRelayer ok', 'capability p relayer.sendTransaction ok']);
});

t.test('without a grant nothing happens, and the error names the line to add', async (t) => {
  const { services, metrics, record, ask, lines } = setUp({ relayers: { known: ['read'] } });
  t.match(await ask('relayer.sendTransaction', send), {
    ok: false,
    error: { message: /has no grant to send through relayer known: add "known": \["read", "send"\]/ },
  });
  t.match(await ask('kv.get', { key: 'a' }), { ok: false, error: { message: /add "kv": true/ } });
  t.same(services.sent, []);
  t.equal(record.hadEffect, false);
  t.strictSame(record.traces.entries(0), [
    {
      method: 'sendTransaction',
      relayerId: 'known',
      requestId: 'uuid-1',
      payload: send.request,
      durationMs: 0,
      outcome: 'refused',
    },
  ]);
  t.same(metrics.lines, ['capability p relayer.sendTransaction refused', 'capability p kv.get refused']);
  t.match(lines.join(), 'has no grant');
});

t.test('after its end, or from another slot, a call can do nothing', async (t) => {
  const { services, calls, record, ask } = setUp();
  t.same(await ask('relayer.sendTransaction', send, 2), refusal('The plugin call is over'));
  calls.end(record);
  t.same(await ask('relayer.sendTransaction', send), refusal('The plugin call is over'));
  t.same(services.sent, []);
});

t.test('unknown methods, bad payloads, oversized payloads and too many calls are refused', async (t) => {
  const { services, metrics, record, ask } = setUp(undefined, 6);
  t.same(await ask('relayer.destroy', {}), refusal('There is no capability "relayer.destroy"'));
  t.match(await ask('constructor', {}), { ok: false });
  t.same(
    await ask('relayer.getTransaction', { relayerId: 'known' }),
    refusal('Invalid payload: transactionId: Invalid input: expected string, received undefined'),
  );
  t.match(await ask('kv.get', null), { ok: false, error: { message: /^Invalid payload: Invalid input/ } });
  t.match(
    record.traces.entries(0),
    [{ method: 'getTransaction', relayerId: 'known', payload: null, outcome: 'error' }],
    'a relayer call with a bad payload is traced too',
  );
  const large = { relayerId: 'known', request: 'x'.repeat(1_048_577) };
  t.same(await ask('relayer.sendTransaction', large), refusal('Invalid payload: larger than 1048576 bytes'));
  t.match(await ask('kv.exists', { key: 'a' }), { ok: true });
  t.same(await ask('kv.exists', { key: 'a' }), refusal('A call of this plugin may make 6 capability calls'));
  t.same(services.sent, []);
  t.equal(metrics.lines[0], 'capability p unknown refused', 'no text of the guest becomes a label');
});

t.test('errors have the texts that plugins know', async (t) => {
  const { ask } = setUp();
  const message = async (method: string, params: object) => {
    const reply = await ask(method, params);
    return reply.ok ? 'ok' : reply.error.message;
  };
  t.equal(
    await message('relayer.getRelayer', { relayerId: 'x' }),
    'Relayer error: Not Found: Relayer with ID x not found',
  );
  t.equal(
    await message('relayer.sendTransaction', { ...send, relayerId: 'paused' }),
    'Relayer error: Relayer is paused',
  );
  t.equal(await message('kv.get', { key: 'a b' }), 'invalid key');
  t.same(await ask('relayer.waitTransaction', { relayerId: 'known', transactionId: 'tx-1', timeout: 0 }), {
    ok: false,
    error: { message: 'Transaction tx-1 timed out after 0ms', status: 504 },
  });
});

t.test('an unexpected fault is logged with its ids, and the plugin learns nothing of it', async (t) => {
  const { ask, record, lines } = setUp();
  t.same(await ask('relayer.getRelayer', { relayerId: 'faulty' }), refusal('Relayer error: Internal Server Error'));
  const line = lines.map((text) => JSON.parse(text)).find(({ err }) => err !== undefined);
  t.match(line, { pluginId: 'p', requestId: 'req-1', relayerRequestId: 'uuid-1', err: { message: /swordfish/ } });
  t.match(record.traces.entries(0), [{ outcome: 'error' }]);
});

t.test('an answer that is too large to cross is refused', async (t) => {
  const { services, ask } = setUp();
  services.store.set('p/large', 'x'.repeat(1_048_577));
  t.same(await ask('kv.get', { key: 'large' }), refusal('The answer is larger than 1048576 bytes'));
});

t.test('a wait ends with its plugin call', async (t) => {
  const { services, calls, record, ask, lines } = setUp();
  services.waited = undefined;
  const waiting = ask('relayer.waitTransaction', { relayerId: 'known', transactionId: 'tx-1' });
  calls.end(record);
  t.same(await waiting, refusal('The plugin call is over'));
  t.equal(services.aborted, 1);
  t.same(lines, [], 'which is no fault');
});

t.test(
  'each effect of a call with an idempotency key has a name, whatever comes between; nothing else has',
  async (t) => {
    const { services, ask } = setUp(undefined, 100, 'claim');
    await ask('relayer.sendTransaction', { relayerId: 'known', request: { a: 1, b: 2 } });
    await ask('relayer.getRelayer', { relayerId: 'known' });
    await ask('kv.set', { key: 'a', value: '1' });
    await ask('relayer.sendTransaction', { relayerId: 'known', request: { b: 2, a: 1 } });
    await ask('relayer.sendTransaction', { relayerId: 'known', request: { b: 2, a: 2 } });
    const hash = services.effects[0]?.payloadHash;
    t.match(services.effects, [
      { claimId: 'claim', ordinal: 0, payloadHash: /^[0-9a-f]{64}$/ },
      { claimId: 'claim', ordinal: 2, payloadHash: hash },
      { claimId: 'claim', ordinal: 3 },
    ]);
    t.not(services.effects[2]?.payloadHash, hash);

    const plain = setUp();
    await plain.ask('relayer.sendTransaction', send);
    t.strictSame(plain.services.effects, [undefined]);
  },
);

t.test('a run that comes to another effect than the first one is ended, whatever its plugin makes of it', async (t) => {
  const { services, record, ask } = setUp(undefined, 100, 'claim');
  services.earlier.set(0, 'of the first run');
  let ends = 0;
  record.onFailure = () => {
    ends += 1;
  };
  t.match(await ask('relayer.sendTransaction', send), { ok: false, error: { message: /Effect 1 of this request/ } });
  t.match(record.failure, { code: 'EFFECT_MISMATCH' });
  t.equal(ends, 1);
  t.same(services.sent, []);
});

t.test('limits go with what is sent, and a refusal tells its figures', async (t) => {
  const limited = { methods: ['send', 'rpc'], value_per_hour: 10 };
  const { services, metrics, lines, ask } = setUp({ relayers: { known: limited } });
  await ask('relayer.sendTransaction', send);
  t.match(services.spenders, [{ pluginId: 'p', caveats: { valuePerHour: 10n } }]);

  const figures = {
    rule: 'value_per_hour',
    asked: '6',
    limit: '10',
    remaining: '4',
    free_from: '2026-01-01T00:00:00.000Z',
  };
  services.refusal = new AppError('BUDGET_SPENT', { plugin: 'p', relayer: 'known', unit: 'wei', ...figures });
  for (let time = 0; time < 2; time += 1) {
    t.strictSame(await ask('relayer.sendTransaction', send), {
      ok: false,
      error: {
        message: `Relayer error: ${services.refusal.message}`,
        code: 'BUDGET_SPENT',
        status: 403,
        details: figures,
      },
    });
  }
  const breach = { rule: 'recipients', asked: '0x1', limit: '0x2' };
  services.refusal = new AppError('GRANT_EXCEEDED', { plugin: 'p', relayer: 'known', ...breach });
  t.match(await ask('relayer.sendTransaction', send), {
    error: { code: 'GRANT_EXCEEDED', status: 403, details: breach },
  });

  const act = { relayerId: 'known', request: { method: 'eth_sendRawTransaction', params: ['0x'] } };
  t.match(await ask('relayer.rpc', act), { error: { message: /may not ask a node to act/ } });
  t.same(
    metrics.lines.map((line) => line.split(' ').at(-1)),
    ['ok', 'refused', 'refused', 'refused', 'refused'],
  );
  t.equal(
    lines.filter((line) => line.includes('"level":40') || line.includes('"warn"')).length,
    1,
    'the first is told aloud',
  );
});

t.test('what a plugin calls a relayer writes nothing into the log but its own name', async (t) => {
  const { lines, ask } = setUp({ relayers: { known: ['read'] } });
  const relayerId = `x\r\n{"level":60}\u001b[2J\u202e\u2028${'y'.repeat(200)}`;
  t.match(await ask('relayer.getRelayer', { relayerId }), { ok: false });
  const said = lines.map((line) => (JSON.parse(line) as { msg: string }).msg).join('');
  t.match(said, /x\\r/);
  t.notMatch(said, /[\p{Cc}\p{Cf}\u2028]/u);
  t.ok(said.length < 1000, `${said.length} characters`);
});
