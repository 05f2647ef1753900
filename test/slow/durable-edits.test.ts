/**
 * Threat: a plugin is edited while its calls wait, and they go on in code that asks for something else, or never, or the
 * old code is gone.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../src/domain/clock.ts';
import { createLog } from '../../src/observability/log.ts';
import { createSealer } from '../../src/store/sealing.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { eventually } from '../support/eventually.ts';
import type { AnswerBody } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const CALLS = Number(process.env['CALLS'] ?? 200);
const SEND_EVERY = 8;
/** In the second version the effect after the wait has another name, and in the third also the one before it. */
const EDITS = [
  { code: 'a', before: 'before', after: 'after' },
  { code: 'b', before: 'before', after: 'renamed' },
  { code: 'c', before: 'other', after: 'renamed' },
] as const;

const pluginOf = ({ code, before, after }: (typeof EDITS)[number]) => `
export async function handler({ api, kv, params: { name, does } }) {
  const code = '${code}';
  await kv.set('${before}:' + name, code + Date.now());
  if (does === 'sleep') await api.sleep(40_000);
  if (does === 'event') await api.waitFor('go');
  if (does === 'send') {
    const sent = await api.useRelayer('local-1').sendTransaction(
      { to: '0x00000000000000000000000000000000000abcde', value: '7', data: '0x', gas_limit: 60000, speed: 'fast' });
    const { status } = await sent.wait({ until: 'confirmed', timeout: 3_600_000 });
    if (status !== 'confirmed') throw new Error(status);
  }
  await kv.set('${after}:' + name, code);
  return { code, after: await kv.get('after:' + name), renamed: await kv.get('renamed:' + name) };
}`;

t.test('calls whose plugin is edited twice while they wait end on their version', { timeout: 600_000 }, async (t) => {
  const anvil = await startAnvil({ blockTime: 0.2 });
  t.teardown(() => anvil.stop());
  const [first, ...edits] = EDITS;
  const key = randomBytes(32);
  const limits = { process_mb: 3072, concurrency: 512, slice_ms: 5_000, cpu_ms: 30_000, lifetime: '1h' };
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    pluginFiles: { 'works.ts': pluginOf(first) },
    plugins: [{ id: 'works', path: 'works.ts', durable: true, timeout: 120, limits }],
    env: {
      ...{ RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000' },
      STORAGE_ENCRYPTION_KEY: key.toString('base64'),
    },
  });
  t.teardown(() => workspace.remove());
  await anvil.rpc('anvil_setBalance', [workspace.address, `0x${(10n ** 20n).toString(16)}`]);
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${service.url}/api/v1/plugins/works${path}`, {
      method,
      headers: {
        ...{ authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
        prefer: 'respond-async',
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as AnswerBody;
  };
  const begin = async (name: string, does: string) => {
    const { data } = await ask('POST', '/call', { params: { name, does } });
    return data.id as string;
  };
  const count = async (state: string) =>
    (await ask('GET', `/calls?state=${state}&per_page=1`)).pagination.total_items as number;
  const serves = async (code: string) => {
    const name = `probe-${code}-${randomBytes(4).toString('hex')}`;
    const id = await begin(name, 'nothing');
    const view = () => ask('GET', `/calls/${id}`);
    const { data } = await eventually(view, ({ data: { state } }) => state === 'returned', 30_000);
    return data.answer.code === code ? (data.version as string) : undefined;
  };

  const kinds = Array.from({ length: CALLS }, (_, n) =>
    n % SEND_EVERY === 0 ? 'send' : n % 2 === 0 ? 'event' : 'sleep',
  );
  const sends = kinds.filter((kind) => kind === 'send').length;
  await serves('a');
  await anvil.rpc('evm_setIntervalMining', [0]);
  const ids = await Promise.all(kinds.map((kind, n) => begin(`call-${n}`, kind)));
  const all = await eventually(
    () => count('waiting'),
    (waiting) => waiting === CALLS,
    120_000,
  );
  t.comment(`${all} of ${CALLS} wait at once`);
  const young: string[] = [];
  for (const edit of edits) {
    await workspace.writePlugin('works.ts', pluginOf(edit));
    t.ok(
      await eventually(
        () => serves(edit.code),
        (version) => version !== undefined,
        60_000,
      ),
      'it serves',
    );
    young.push(await begin(`young-${edit.code}`, 'event'));
  }
  await eventually(
    () => count('running'),
    (running) => running === 0,
    60_000,
  );
  await anvil.rpc('evm_setIntervalMining', [1]);
  for (const [n, id] of [...ids, ...young].entries()) {
    if (n >= CALLS || kinds[n] === 'event') await ask('POST', `/calls/${id}/events/go`, { value: n });
  }
  const versions = new Set<string>();
  for (const [n, id] of ids.entries()) {
    const view = () => ask('GET', `/calls/${id}`);
    const { data } = await eventually(view, ({ data: { ended_at: at } }) => at !== null, 180_000);
    versions.add(data.version);
    t.match(data, { state: 'returned', answer: { code: 'a', after: 'a', renamed: null } }, `${kinds[n]} ${n}`);
  }
  t.equal(versions.size, 1);
  for (const [index, id] of young.entries()) {
    const { code } = EDITS[index + 1] ?? first;
    const view = () => ask('GET', `/calls/${id}`);
    const { data } = await eventually(view, ({ data: { ended_at: at } }) => at !== null, 60_000);
    t.match(data, { state: 'returned', answer: { code, after: null, renamed: code } }, 'new calls run new code');
    versions.add(data.version);
  }
  t.equal(versions.size, EDITS.length);
  const { body } = await service.request('GET', '/api/v1/relayers/local-1/transactions?per_page=1');
  t.equal(body.pagination.total_items, sends, 'each payment once');
  t.equal(await count('threw'), 0);
  await service.stop();

  const store = await openSqliteStore({
    ...{ path: join(workspace.dir, 'data', 'isolayer.db'), clock: systemClock, log: createLog('silent') },
    sealer: createSealer([key], randomBytes),
  });
  t.teardown(() => store.close());
  const far = Date.now() + 3_600_000;
  const pruned = () =>
    store.write(async (writer) => {
      const bundles = await writer.pruneBundles(far, 10);
      return { bundles, calls: await writer.pruneCalls(far, 1_000) };
    });
  const { calls, bundles } = await pruned();
  t.equal(bundles, 0, 'a version stays while a call has it');
  t.ok(calls >= CALLS + young.length);
  t.strictSame(await pruned(), { bundles: EDITS.length, calls: 0 }, 'and goes after the last of them');
});
