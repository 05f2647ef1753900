/** What docs/plugins.md says of permissions and limits is so. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createEvmChain } from '../../src/chains/evm/index.ts';
import { createSolanaChain } from '../../src/chains/solana/index.ts';
import { createStellarChain } from '../../src/chains/stellar/index.ts';
import { checkCaveats } from '../../src/config/caveats.ts';
import { Findings } from '../../src/config/problems.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { AppError } from '../../src/domain/errors.ts';
import { CAVEATS, pluginEntrySchema, relayerGrantSchema } from '../../src/domain/plugin.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { grantsOf } from '../../src/plugin-host/grants.ts';
import { spendingFailure } from '../../src/plugin-host/relayer-failure.ts';

const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'plugins.md'), 'utf8');
const example: unknown = JSON.parse(/```json\n([^]*?)```/.exec(guide)?.[1] ?? '');
const rows = (named: RegExp) => [...guide.matchAll(named)].map(([, name = '', text = '']) => [name, text] as const);

t.test('the example is an entry whose limits hold', (t) => {
  const entry = pluginEntrySchema.parse(example);
  const findings = new Findings();
  const families = new Map([['sepolia-2', createEvmChain(systemClock)]]);
  checkCaveats(example, { file: 'docs', path: 'plugins[0]' }, families, findings);
  t.strictSame(findings.problems, []);
  const grants = grantsOf(entry);
  t.equal(grants.spender('sepolia-1'), undefined);
  t.match(grants.spender('sepolia-2')?.caveats, { valuePerHour: 10n ** 16n, feePerHour: 5n * 10n ** 15n });
  t.match(grants.refusal({ relayer: 'sepolia-2', right: 'rpc', acts: true }), 'may not ask a node to act');
  t.end();
});

t.test('the tables name every limit, every method and every code, with their details', (t) => {
  t.strictSame(
    rows(/^\| `([a-z_]+)` \| (.*?) \|$/gm).map(([name]) => name),
    [...CAVEATS],
  );
  const methods = /`read` \([^]*?and `rpc`/.exec(guide)?.[0] ?? '';
  for (const method of relayerGrantSchema.options) t.match(methods, `\`${method}\``);

  const any = { plugin: '', relayer: '', rule: '', unit: '', asked: '', limit: '', remaining: '', free_from: '' };
  const codes = rows(/^\| `([A-Z_]+)` \| (.*?) \|/gm);
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
  t.ok(createMetrics().names().includes('plugin_capability_calls_total'));
  t.end();
});

t.test('limits are for the families that it names', (t) => {
  const chains = [createEvmChain(systemClock), createSolanaChain(), createStellarChain()];
  t.strictSame(
    chains.filter(({ spending }) => spending !== undefined).map(({ type }) => type),
    ['evm'],
  );
  t.match(guide, 'Limits are for EVM relayers');
  t.end();
});

t.test('beside a limit nothing is signed', (t) => {
  const limited = { methods: ['send', 'sign'], value_per_hour: 1 };
  const parsed = pluginEntrySchema.safeParse({ id: 'p', path: 'p.ts', permissions: { relayers: { r: limited } } });
  t.match(parsed.error?.issues[0]?.message, /^"sign" cannot stand beside value_per_hour/);
  t.end();
});
