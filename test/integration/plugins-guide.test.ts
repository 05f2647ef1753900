/** The statements of docs/plugins.md are true. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DEFAULT_LIMITS, END_CODES, FIXED_LIMITS } from '../../sandbox/contract.ts';
import { MAX_BUNDLE_BYTES } from '../../sandbox/host/compiler/build-job.ts';
import { createEvmChain } from '../../src/chains/evm/index.ts';
import { createSolanaChain } from '../../src/chains/solana/index.ts';
import { createStellarChain } from '../../src/chains/stellar/index.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { AppError, ERRORS, type ErrorCode } from '../../src/domain/errors.ts';
import { IDEMPOTENCY_KEEP_MS } from '../../src/domain/idempotency.ts';
import { MAX_RECORDED_BODY_BYTES } from '../../src/features/plugins/fetch.ts';
import { readPluginGrants } from '../../src/features/plugins/host/capabilities/grants.ts';
import { spendingFailure } from '../../src/features/plugins/host/capabilities/relayer-failure.ts';
import { MAX_BUNDLES_BYTES } from '../../src/features/plugins/host/catalog/catalog.ts';
import { pluginSchema } from '../../src/features/plugins/operations.ts';
import { pluginEntrySchema, relayerGrantSchema, SPENDING_CAVEATS } from '../../src/features/plugins/records/plugin.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { checkCaveats } from '../../src/settings/check-references.ts';
import { ConfigurationFindings } from '../../src/settings/problems.ts';
import { COUNTED_BEYOND_BYTES, KEPT_BYTES_QUOTA } from '../../src/store/tables/idempotency.ts';
import { startPluginHost } from '../support/plugin-host.ts';

const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'plugins.md'), 'utf8');
const sections = new Map(guide.split(/^#+ (?=\S)/m).map((text) => [text.slice(0, text.indexOf('\n')), text]));
const section = (title: string) => sections.get(title) ?? '';
const example: unknown = JSON.parse(/```json\n([^]*?)```/.exec(section('Relayers'))?.[1] ?? '');
/** The rows of a section's tables: the name in the first cell, then the other cells. */
const rows = (title: string) =>
  [...section(title).matchAll(/^\| `(\w+)` \| (.*?) \|(?: (.*?) \|)?$/gm)].map(
    ([, name = '', second = '', third = '']) => [name, second, third] as const,
  );

t.test('the example is an entry whose limits hold', (t) => {
  const entry = pluginEntrySchema.parse(example);
  const findings = new ConfigurationFindings();
  const families = new Map([['sepolia-2', createEvmChain(systemClock)]]);
  checkCaveats(example, { file: 'docs', path: 'plugins[0]' }, families, findings);
  t.strictSame(findings.problems, []);
  const grants = readPluginGrants(entry);
  t.equal(grants.spender('sepolia-1'), undefined);
  t.match(grants.spender('sepolia-2')?.caveats, { valuePerHour: 10n ** 16n, feePerHour: 5n * 10n ** 15n });
  t.match(grants.refusal({ relayer: 'sepolia-2', right: 'rpc', acts: true }), 'may not ask a node to act');
  t.end();
});

t.test('the tables name every limit, every method and every code, with their details', (t) => {
  t.strictSame(
    rows('Relayers').map(([name]) => name),
    [...SPENDING_CAVEATS],
  );
  const methods = /`read` \([^]*?and `rpc`/.exec(guide)?.[0] ?? '';
  for (const method of relayerGrantSchema.options) t.match(methods, `\`${method}\``);

  const any = { plugin: '', relayer: '', rule: '', unit: '', asked: '', limit: '', remaining: '', free_from: '' };
  const codes = rows('Refusals');
  t.strictSame(
    codes.map(([code]) => code),
    ['GRANT_EXCEEDED', 'BUDGET_SPENT'],
  );
  for (const [code, details] of codes) {
    const failure = spendingFailure(new AppError(code as 'BUDGET_SPENT', any));
    t.equal(failure?.status, 403);
    t.strictSame(
      Object.keys(failure?.details ?? {}),
      [...details.matchAll(/`(\w+)`/g)].map(([, name]) => name),
    );
  }
  t.ok(createMetrics().names().includes('isolayer_plugin_capability_calls_total'));
  t.end();
});

t.test('what is said of repeats has the figures that hold', (t) => {
  const text = section('Repeats').replaceAll('\n', ' ');
  t.match(text, `of more than ${MAX_RECORDED_BODY_BYTES / 1024} KiB, which is not stored`);
  t.match(
    text,
    `more than ${COUNTED_BEYOND_BYTES / 1024} KiB each API key has ${KEPT_BYTES_QUOTA / 1_048_576} MiB kept`,
  );
  t.match(text, `remembered for ${IDEMPOTENCY_KEEP_MS / 3_600_000} hours`);
  for (const [, code] of text.matchAll(/409 `(\w+)`/g)) t.equal(ERRORS[code as ErrorCode].status, 409);
  t.end();
});

t.test('limits are for the families that it names', (t) => {
  const chains = [createEvmChain(systemClock), createSolanaChain(), createStellarChain()];
  t.strictSame(
    chains.filter(({ spending }) => spending !== undefined).map(({ type }) => type),
    ['evm', 'solana', 'stellar'],
  );
  t.match(guide, 'On Stellar `recipients` are accounts and contracts');
  t.end();
});

t.test('beside a limit nothing is signed', (t) => {
  const limited = { methods: ['send', 'sign'], value_per_hour: 1 };
  const parsed = pluginEntrySchema.safeParse({ id: 'p', path: 'p.ts', permissions: { relayers: { r: limited } } });
  t.match(parsed.error?.issues[0]?.message, /^"sign" cannot stand beside value_per_hour/);
  t.end();
});

t.test('the first example is a plugin, and its failure is the one that is shown', async (t) => {
  const source = /```ts\n([^]*?)```/.exec(section('Writing one'))?.[1] ?? '';
  const shown: unknown = JSON.parse(/```json\n([^]*?)```/.exec(section('The answer'))?.[1] ?? '');
  const shows = `export const handler = (context) => ({
    context: Object.keys(context),
    globals: [fetch, URL, crypto, setTimeout, TextEncoder, ReadableStream, Buffer, process.env].map((one) => typeof one),
  });`;
  const { call, close, services } = await startPluginHost({
    files: {
      'pays.ts': source.replace('local-1', 'known'),
      'world.ts': shows,
      'reads-files.ts': `import { readFileSync } from 'node:fs'; export const handler = () => readFileSync('/etc/passwd', 'utf8');`,
    },
    entries: [
      { id: 'pays', emit_traces: true, emit_usage: true, emit_logs: true },
      // The first use of all of these runs without a pause, and takes seconds on a slow machine.
      { id: 'world', limits: { slice_ms: 60_000, cpu_ms: 60_000 } },
    ],
  });
  t.teardown(close);
  const refused = await call('pays', {});
  t.equal(refused.status, 400);
  const { metadata, ...body } = refused.body;
  t.strictSame(body, shown);
  for (const key of Object.keys(metadata)) t.match(section('The answer'), `\`metadata.${key}\``);
  for (const key of Object.keys(metadata.usage)) t.match(section('The answer'), `\`${key}\``);

  const paid = await call('pays', { to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' });
  t.equal(paid.status, 200, paid.text);
  t.match(paid.body.data, { status: String });
  t.match(services.sent, [{ relayerId: 'known', body: { value: 1, speed: 'fast' } }]);
  t.match(
    paid.body.metadata.traces.map(({ method }: { method: string }) => method),
    ['sendTransaction'],
  );
  for (const key of Object.keys(paid.body.metadata.traces[0])) t.match(section('The answer'), `\`${key}\``);

  const world = await call('world');
  t.equal(world.status, 200, world.text);
  const { data } = world.body;
  const told = /The context has ([^]*?):/.exec(section('Writing one'))?.[1] ?? '';
  const names = [...told.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
  t.strictSame(data.context.toSorted(), names.toSorted());
  t.notOk(data.globals.includes('undefined'));
  t.match((await call('reads-files')).body, { data: { code: 'COMPILE_ERROR' }, error: /There are no files: / });
});

t.test('keys of the entry, limits and ends are those that there are', (t) => {
  const entry = pluginEntrySchema.parse({ id: 'p', path: 'p.ts' });
  for (const [key, value] of rows('The answer')) t.equal(String(entry[key as keyof typeof entry]), value, key);
  t.strictSame(
    rows('Limits').map(([name, value]) => [name, Number(value)]),
    Object.entries(DEFAULT_LIMITS),
  );
  const { CANCELED: _, ...ends } = END_CODES;
  t.strictSame(
    rows('Other ends').map(([code, status]) => [code, Number(status)]),
    Object.entries(ends).map(([code, { status }]) => [code, status]),
  );
  t.match(section('Keeping values'), `at most ${FIXED_LIMITS.locks} locks`);
  t.end();
});

t.test('what is shown of a plugin, and what is measured', (t) => {
  const shown = rows('How one stands').map(([name]) => name);
  for (const key of shown) t.ok(Object.hasOwn(pluginSchema.shape, key), key);
  for (const key of Object.keys(pluginSchema.shape)) {
    t.ok(shown.includes(key) || Object.hasOwn(pluginEntrySchema.shape, key), `${key} is described`);
  }
  const hour = rows('How one stands').find(([name]) => name === 'last_hour')?.[1] ?? '';
  for (const [, key = ''] of hour.matchAll(/`(\w+)`/g)) {
    t.ok(Object.hasOwn(pluginSchema.shape.last_hour.shape, key), key);
  }
  const metrics = createMetrics().names();
  for (const [name] of section('How one stands').matchAll(/isolayer_plugin_\w+/g)) t.ok(metrics.includes(name), name);
  t.end();
});

t.test('the sizes of bundles are as they are said to be', (t) => {
  const [one, all] = [MAX_BUNDLE_BYTES, MAX_BUNDLES_BYTES].map((bytes) => bytes / 1_048_576);
  const words = section('From edit to edit').replaceAll(/\s+/g, ' ');
  t.match(words, `at most ${one} MiB, those of all plugins together ${all} MiB`);
  t.end();
});
