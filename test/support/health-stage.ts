import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { createEvmChain } from '../../src/chains/evm/index.ts';
import { createConnections } from '../../src/chains/rpc-connections.ts';
import { systemClock } from '../../src/domain/clock.ts';
import type { JsonObject } from '../../src/domain/json/json.ts';
import { createAddressGuard } from '../../src/egress/address-guard.ts';
import { createHttpClient } from '../../src/egress/http-client.ts';
import { LeaseRegistry } from '../../src/engine/lease-registry.ts';
import { RelayerHealth } from '../../src/engine/relayers/relayer-health.ts';
import type { EngineTiming } from '../../src/engine/timing.ts';
import { Outbox } from '../../src/engine/webhooks/outbox.ts';
import { fixedNetworks } from '../../src/features/networks/record.ts';
import type { DisabledReason } from '../../src/features/relayers/records/disabled-reason.ts';
import type { Relayer } from '../../src/features/relayers/records/relayer.ts';
import { createLog } from '../../src/observability/log.ts';
import type { Store } from '../../src/store/store.ts';
import type { Anvil } from './anvil.ts';
import { fastTiming } from './engine-world.ts';
import { NO_MARKET } from './no-market.ts';
import { RecordedMetrics } from './recorded-metrics.ts';
import type { DoubleHandler } from './rpc-double.ts';
import { storeFor } from './store.ts';

export interface HealthStageOptions {
  urls: readonly string[];
  address: string;
  /** Settings of the network entry. */
  settings?: JsonObject;
  timing?: Partial<EngineTiming>;
  /** A store that is shared with others. Absent: one that ends with the test. */
  store?: Store;
}

/** The checks of one relayer, `r1`, over real endpoints; its notification is never delivered. */
export interface HealthStage {
  store: Store;
  health: RelayerHealth;
  logLines: readonly string[];
  reason(): Promise<DisabledReason | null>;
  change(change: Partial<Relayer>): Promise<void>;
  /** The notifications since the last call, oldest first. */
  told(): Promise<{ payload_type: string; retry_count?: number }[]>;
  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void>;
}

/** Makes the relayer and its checks, which the test starts; they end with the test. */
export async function healthStage(t: Test, options: HealthStageOptions): Promise<HealthStage> {
  const store = options.store ?? (await storeFor(t));
  const logLines: string[] = [];
  const log = createLog('info', { write: (line) => void logLines.push(line) });
  const chains = new Map([['evm' as const, createEvmChain(systemClock)]]);
  const http = createHttpClient(createAddressGuard({ allowedHosts: [], blockPrivate: false }));
  const rpcUrls = options.urls.map((url) => ({ url, weight: 100 }));
  const connections = createConnections({
    networks: fixedNetworks([{ type: 'evm', name: 'local', rpcUrls, settings: options.settings ?? {} }]),
    chains,
    http,
    market: NO_MARKET,
    clock: systemClock,
    random: Math.random,
    settings: { timeoutMs: 2_000, tries: 2, baseDelayMs: 1, maxDelayMs: 2, pauseMs: 600_000 },
  });
  const leases = new LeaseRegistry({ store, elapsed: () => systemClock.elapsed(), log });
  const health = new RelayerHealth({
    store,
    leases,
    chains,
    connections,
    contacts: connections,
    log,
    metrics: new RecordedMetrics(),
    outbox: new Outbox({ chains, newId: randomUUID, now: systemClock.now, onCommitted: () => {}, log }),
    timing: { ...fastTiming, healthMs: 30, confirmMs: 10, recheckMs: [10, 20], ...options.timing },
    elapsed: () => systemClock.elapsed(),
    random: Math.random,
  });
  t.teardown(async () => {
    await health.close();
    await leases.close();
    await connections.close();
    await http.close();
  });
  const relayer: Relayer = {
    id: 'r1',
    name: 'r1',
    network: 'local',
    networkType: 'evm',
    address: options.address,
    paused: false,
    disabledReason: null,
    signerId: 'signer-1',
    notificationId: 'hook-1',
    customRpcUrls: null,
    policies: {},
    declaration: null,
  };
  if ((await store.read.relayer('r1')) === undefined) await store.write((writer) => writer.putRelayer(relayer));
  const current = async (): Promise<Relayer> => (await store.read.relayer('r1')) ?? relayer;
  return {
    store,
    health,
    logLines,
    reason: async () => (await current()).disabledReason,
    change: async (change) => {
      await store.write(async (writer) => {
        await writer.putRelayer({ ...relayer, ...(await writer.relayer('r1')), ...change });
      });
    },
    told: () => drain(store),
    async until(what, holds) {
      const end = performance.now() + 20_000;
      while (!(await holds())) {
        if (performance.now() > end) throw new Error(`not within 20 s: ${what}\n${logLines.slice(-5).join('')}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
}

async function drain(store: Store): Promise<{ payload_type: string; retry_count?: number }[]> {
  const payloads = [];
  for (;;) {
    const [event] = await store.write((writer) => writer.claimEvents('hook-1', 1, 0));
    if (event === undefined) return payloads;
    await store.write((writer) => writer.settleEvent(event, { outcome: '', end: 'delivered' }));
    payloads.push(JSON.parse(event.body).payload);
  }
}

/** Answers as the node does, except for the methods in `overrides`. */
export function answersOf(anvil: Pick<Anvil, 'rpc'>, overrides: Readonly<Record<string, unknown>> = {}): DoubleHandler {
  return async ({ method, params }) => {
    if (method in overrides) return { result: overrides[method] };
    try {
      return { result: await anvil.rpc(method, params) };
    } catch (error) {
      return { error: { code: -32_000, message: String(error) } };
    }
  };
}
