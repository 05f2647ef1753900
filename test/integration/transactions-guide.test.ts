/** The statuses, times and routes in docs/transactions.md are right. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import type { BroadcastOutcome } from '../../src/chains/chain-client.ts';
import { readNetworkSettings } from '../../src/chains/evm/configuration/network.ts';
import { createEvmChain } from '../../src/chains/evm/index.ts';
import { replacementDelayMs } from '../../src/chains/evm/replace.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { IDEMPOTENCY_KEEP_MS } from '../../src/domain/idempotency.ts';
import type { ParkCause } from '../../src/engine/lane/broadcast-history.ts';
import { WIDEST_GAP } from '../../src/engine/sequencing/sequence-planner.ts';
import { defaultTiming } from '../../src/engine/timing.ts';
import { timelineEventSchema } from '../../src/features/transactions/operations.ts';
import { transactionStatusSchema } from '../../src/features/transactions/records/transaction-state.ts';
import { ALL_OPERATIONS } from '../../src/http/operation-table.ts';
import { EXPOSED_METRICS } from '../../src/observability/metric-table.ts';
import { storedTransaction } from '../support/evm.ts';

const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'transactions.md'), 'utf8');
const MINUTE = 60_000;
const ACCOUNT = { address: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266', policies: {} };

const settingsOf = (tags: string[]) =>
  readNetworkSettings({ type: 'evm', name: 'n', rpcUrls: [], settings: { chain_id: 1, tags } });

t.test('it has every status, and no other', (t) => {
  const life = /## Its life([^]*?)\n## /.exec(guide)?.[1] ?? '';
  const rows = [...life.matchAll(/^\| `(\w+)` \| /gm)].map(([, name = '']) => name);
  const statuses = rows.filter((name) => (transactionStatusSchema.options as string[]).includes(name));
  t.strictSame(statuses, transactionStatusSchema.options);
  t.end();
});

t.test('dearer versions come after the times of its table', (t) => {
  const rows = [...guide.matchAll(/^\| `(fastest|fast|average|safeLow)`.* \| (\d+) min \|/gm)];
  t.equal(rows.length, 4);
  for (const [, speed = '', minutes] of rows) {
    const transaction = storedTransaction(ACCOUNT, { to: ACCOUNT.address, value: 0, speed });
    t.equal(replacementDelayMs(settingsOf([]), transaction, 1), Number(minutes) * MINUTE, speed);
    t.equal(replacementDelayMs(settingsOf([]), transaction, 2), 2 * Number(minutes) * MINUTE, speed);
    t.equal(replacementDelayMs(settingsOf([]), transaction, 99), 60 * MINUTE, speed);
    t.equal(replacementDelayMs(settingsOf(['arbitrum-based']), transaction, 3), 20_000, speed);
  }
  t.match(guide, /twice as long, at most 60 min/);
  t.match(guide, /followed every 20 s instead/);
  t.end();
});

t.test('the other times are those of the engine', (t) => {
  t.equal(defaultTiming.reofferMs, 20_000);
  t.match(guide, /offered again every 20 s/);
  t.equal(defaultTiming.unprovedMs, 20_000);
  t.equal(defaultTiming.unresolvedLookMs, 25_000);
  t.match(guide, /after 20 s `status_reason` says why, it is looked for every 25 s/);
  t.equal(defaultTiming.driftMs, 15_000);
  t.match(guide, /asked for it\s+for 15 s/);
  t.match(guide, new RegExp(`More than ${WIDEST_GAP} are never filled at once`));
  t.equal(createEvmChain(systemClock).pace.lifetimeMs, 8 * 60 * MINUTE);
  t.match(guide, /that is after 8 h/);
  t.equal(IDEMPOTENCY_KEEP_MS, 24 * 60 * MINUTE);
  t.match(guide, /repeated within 24 h/);
  t.end();
});

t.test('the chains that it says can be started anew are those that can', (t) => {
  const [, ...ids] = /started anew\*\* \(chain id (\d+) or (\d+)\)/.exec(guide) ?? [];
  t.equal(ids.length, 2);
  const { restartable } = createEvmChain(systemClock);
  for (const id of ids) t.equal(restartable?.(id), id);
  t.equal(restartable?.('1'), undefined);
  t.end();
});

t.test('the routes that it names exist', (t) => {
  const known = ALL_OPERATIONS.map(({ method, path }) =>
    `${method} ${path}`
      .replace(/ \/api\/v1\/relayers\/:id\//, ' ')
      .replace(':transactionId', '{id}')
      .replace(':nonce', '{nonce}')
      .replace(':hash', '{hash}'),
  );
  const named = [...guide.matchAll(/`(GET|POST|PUT|DELETE) …\/([^`]+)`/g)].map(
    ([, method, path]) => `${method} ${path}`,
  );
  t.ok(named.length >= 5);
  for (const route of named) t.ok(known.includes(route), route);
  t.end();
});

t.test('what it tells to look at when one does not move exists under these names', (t) => {
  const part = /## When one does not move([^]*?)\n## /.exec(guide)?.[1] ?? '';
  const rows = [...part.matchAll(/^\| (`?\w+`?) \| (.*?) \| (.*?) \| (.*?) \|$/gm)].slice(1);
  t.ok(rows.length >= 10);
  const timeline = JSON.stringify(z.toJSONSchema(timelineEventSchema));
  const outcomes: readonly BroadcastOutcome['kind'][] = ['busy', 'unknown', 'unfunded', 'refused'];
  const causes: readonly ParkCause[] = ['price', 'balance', 'budget', 'sequence'];
  const words: readonly string[] = [...outcomes, 'gas_price_cap', 'status_reason'];
  const metrics = new Map<string, readonly string[]>([...EXPOSED_METRICS].map(([name, { labels }]) => [name, labels]));
  for (const [, status = '', says = '', look = ''] of rows) {
    const name = status.replaceAll('`', '');
    t.ok(name === 'any' || (transactionStatusSchema.options as string[]).includes(name), status);
    for (const [, word = ''] of says.matchAll(/`([^`]+)`/g))
      t.ok(words.includes(word) || timeline.includes(`"${word}"`), word);
    for (const [, metric = '', , label, value = ''] of look.matchAll(/`(\w+)(\{(\w+)="([^"]+)"\})?`/g)) {
      t.ok(metrics.has(metric), metric);
      if (label === undefined) continue;
      t.ok(metrics.get(metric)?.includes(label), `${metric} ${label}`);
      if (label === 'reason') t.ok((causes as readonly string[]).includes(value), value);
      if (label === 'outcome') t.ok((outcomes as readonly string[]).includes(value), value);
    }
  }
  t.end();
});
