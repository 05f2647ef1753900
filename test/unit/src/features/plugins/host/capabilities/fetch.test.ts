import t from 'tap';
import { AppError } from '../../../../../../../src/domain/errors.ts';
import type { FetchRequest } from '../../../../../../../src/egress/fetch/plugin-fetch.ts';
import type { FetchService } from '../../../../../../../src/features/plugins/fetch.ts';
import { bound, PluginServices } from '../../../../../../support/plugin-services.ts';
import { principalOf } from '../../../../../../support/principal.ts';

const GOOD = { key: 1, url: 'https://a.test/x', method: 'GET', headers: [['x', 'y']], redirect: 'follow' };

class RecordedFetch implements FetchService {
  readonly lines: string[] = [];
  request: FetchRequest | undefined;

  fetch: FetchService['fetch'] = async (by, key, request) => {
    this.lines.push(`fetch ${by.pluginId} ${key}`);
    this.request = request;
    return { status: 200 };
  };

  read: FetchService['read'] = async (by, key) => {
    this.lines.push(`read ${by.pluginId} ${key}`);
    return {};
  };

  abort: FetchService['abort'] = (by, key) => {
    this.lines.push(`abort ${by.pluginId} ${key}`);
    return true;
  };
}

function open() {
  const services = new PluginServices();
  const recorded = new RecordedFetch();
  services.fetch = recorded;
  return { services, recorded };
}

t.test('every method but GET and HEAD is an effect', (t) => {
  const { services } = open();
  const effect = (method: string) => bound(services, 'fetch').prepare({ ...GOOD, method }).effect;
  t.strictSame(['GET', 'HEAD'].map(effect), [false, false]);
  t.strictSame(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map(effect), [true, true, true, true, true]);
  const { key: _, ...sent } = GOOD;
  t.strictSame(
    bound(services, 'fetch')
      .prepare({ ...GOOD, key: 7 })
      .payload(),
    sent,
    'its name tells no effect from another',
  );
  t.strictSame(bound(services, 'fetch.read').prepare({ key: 7 }).payload(), { key: 7 });
  t.strictSame(bound(services, 'fetch').prepare(GOOD).need, { url: 'https://a.test/x', method: 'GET' });
  for (const one of [bound(services, 'fetch.read'), bound(services, 'fetch.abort')]) {
    const { need, effect: isEffect } = one.prepare({ key: 1 });
    t.strictSame({ need, isEffect }, { need: { ofCall: true }, isEffect: false });
  }
  t.end();
});

t.test('a body is the bytes that were meant', async (t) => {
  const { services, recorded } = open();
  const run = async (body: object) => {
    await bound(services, 'fetch')
      .prepare({ ...GOOD, method: 'POST', body })
      .run(principalOf());
    return recorded.request?.body;
  };
  t.same(await run({ text: 'hé' }), Buffer.from('hé'));
  t.same(await run({ base64: 'AAH/' }), Buffer.from([0, 1, 255]));
  await bound(services, 'fetch.read').prepare({ key: 7 }).run(principalOf('q'));
  await bound(services, 'fetch.abort').prepare({ key: 8 }).run(principalOf('q'));
  t.strictSame(recorded.lines.slice(-3), ['fetch p 1', 'read q 7', 'abort q 8']);
  t.equal(bound(services, 'fetch').failure(new AppError('FETCH_FAILED', { reason: 'why' })), 'why');
});

t.test('nothing but the contract is taken', (t) => {
  const { services } = open();
  for (const more of [
    { url: 'ftp://a.test/' },
    { url: 'not a url' },
    { url: 'https://user:pass@a.test/' },
    { url: `https://a.test/${'x'.repeat(20_000)}` },
    { method: 'get' },
    { method: 'CONNECT' },
    { headers: [['x']] },
    { headers: [['x', 'y', 'z']] },
    { headers: Array.from({ length: 300 }, () => ['x', 'y']) },
    { body: 'text' },
    { body: { text: 'a', base64: 'AA==' } },
    { body: { base64: 'not base64!' } },
    { redirect: 'maybe' },
    { key: 0 },
    { key: '1' },
    { other: true },
  ]) {
    t.throws(
      () => bound(services, 'fetch').prepare({ ...GOOD, ...more }),
      { name: 'ZodError' },
      JSON.stringify(more).slice(0, 60),
    );
  }
  t.throws(() => bound(services, 'fetch.read').prepare({ key: 1, more: 1 }));
  t.end();
});
