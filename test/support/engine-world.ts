import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChainClient } from '../../src/chains/chain-client.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { createAddressGuard } from '../../src/egress/address-guard.ts';
import { ChangeFeed } from '../../src/engine/change-feed.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { carryOut } from '../../src/engine/lane/carry-out.ts';
import { decide } from '../../src/engine/lane/decide.ts';
import { expired, gaps, prospects } from '../../src/engine/lane/facts.ts';
import { ChainClock, LaneMemory } from '../../src/engine/lane/lane-memory.ts';
import { type CrashPoint, type LaneStep, momentOf, type StepClock } from '../../src/engine/lane/lane-step.ts';
import { TransactionLedger } from '../../src/engine/lane/ledger.ts';
import { OpenTransactions } from '../../src/engine/lane/open-transactions.ts';
import { Senders } from '../../src/engine/lane/sender.ts';
import { LeaseRegistry } from '../../src/engine/lease-registry.ts';
import { createEngine } from '../../src/engine/scheduler.ts';
import { defaultTiming, type EngineTiming } from '../../src/engine/timing.ts';
import { Outbox } from '../../src/engine/webhooks/outbox.ts';
import { createServices } from '../../src/features/create-services.ts';
import { NetworkDirectory } from '../../src/features/networks/network-directory.ts';
import type { Relayer } from '../../src/features/relayers/records/relayer.ts';
import type { ApiServices } from '../../src/features/services.ts';
import { laneKey } from '../../src/features/transactions/records/lane.ts';
import { newTransaction, type Transaction } from '../../src/features/transactions/records/transaction.ts';
import { createLog } from '../../src/observability/log.ts';
import { createSealer } from '../../src/store/sealing.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { FakeChain } from './fake-chain.ts';
import { FakeChainClient, FakeFamily } from './fake-chain-client.ts';
import { FakeSigner } from './fake-signer.ts';
import { NO_PLUGIN_HTTP, NO_TRIGGERS } from './no-plugin-http.ts';
import { noSigners } from './no-signers.ts';
import { RecordedMetrics } from './recorded-metrics.ts';
import { quickFolder } from './run-folder.ts';

export const ADDRESS = '0xaa';
export const LANE = laneKey('evm', '31337', ADDRESS);

/** The engine's pace in tests: a hundred times the service's pace. */
export const fastTiming: EngineTiming = {
  ...defaultTiming,
  lookMs: 2,
  lookCapMs: 10,
  retryMs: 2,
  retryCapMs: 10,
  reofferMs: 20,
  poolMs: 5,
  unprovedMs: 20,
  unresolvedLookMs: 25,
  refusalMs: 5,
  turnedAwayMs: 50,
  furtherMs: 5,
  intentMs: 300,
  momentMs: 5,
  driftMs: 30,
  sweepMs: 20,
  sweepFloorMs: 2,
  firstCheckMs: 1_000,
  recheckMs: [5, 10],
  closeMs: 50,
  confirmMs: 5,
};

const idle = { wake: () => {}, onChange: () => () => {}, recheck: () => {} };

/** A store on disk, a fake chain and one relayer. Everything opened is closed at the end of the test. */
export class EngineWorld {
  readonly store: Store;
  readonly chain: FakeChain;
  readonly client: FakeChainClient;
  readonly family: FakeFamily;
  readonly signer = new FakeSigner();
  readonly metrics = new RecordedMetrics();
  readonly logLines: string[] = [];
  readonly log = createLog('info', { write: (line) => void this.logLines.push(line) });
  /** The steps of the life of transactions that {@link EngineWorld.step} came to. */
  readonly reached: CrashPoint[] = [];
  /** How often a step reported that its picture differs from the store. */
  distrusted = 0;
  /** How often it was reported that events may have been committed. */
  hints = 0;
  readonly outbox: Outbox;

  constructor(store: Store, chain: FakeChain, family: FakeFamily = new FakeFamily()) {
    this.store = store;
    this.chain = chain;
    this.family = family;
    this.client = new FakeChainClient(chain);
    const chains = new Map([['evm', family] as const]);
    this.outbox = new Outbox({
      chains,
      newId: randomUUID,
      now: () => Date.now(),
      onCommitted: () => {
        this.hints += 1;
      },
      log: this.log,
    });
  }

  static async open(
    t: { teardown(end: () => Promise<void>): void },
    chain = new FakeChain(),
    family = new FakeFamily(),
  ): Promise<EngineWorld> {
    const folder = await mkdtemp(join(quickFolder(), 'isolayer-engine-'));
    const path = join(folder, 'store.db');
    const sealer = createSealer([randomBytes(32)], randomBytes);
    const store = await openSqliteStore({ path, log: createLog('silent'), clock: systemClock, sealer });
    const world = new EngineWorld(store, chain, family);
    t.teardown(async () => {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    });
    await store.write(async (writer) => {
      await writer.putRelayer(relayerNamed('r1'));
      await writer.pinChainIdentity('evm', 'fake', '31337');
    });
    return world;
  }

  /** Makes an engine over this world. A test may give it its own store, chain client or pace. */
  engine(parts: { store?: Store; client?: ChainClient; timing?: Partial<EngineTiming> } = {}): Engine {
    return createEngine({
      store: parts.store ?? this.store,
      chains: new Map([['evm', this.family]]),
      connections: { clientOf: () => parts.client ?? this.client, close: async () => {} },
      signerOf: async () => this.signer,
      log: this.log,
      metrics: this.metrics,
      outbox: this.outbox,
      clock: systemClock,
      random: Math.random,
      newId: randomUUID,
      timing: { ...fastTiming, ...parts.timing },
    });
  }

  /** Makes the services over this world. Without an engine, accepted transactions are not processed. */
  services(engine: Pick<Engine, 'wake' | 'onChange' | 'recheck'> = idle, store = this.store): ApiServices {
    return createServices({
      store,
      chains: new Map([['evm', this.family]]),
      connections: { clientOf: () => this.client, close: async () => {} },
      networks: new NetworkDirectory([], store.read),
      ...noSigners(store),
      signerOf: async () => this.signer,
      engine,
      outbox: this.outbox,
      feed: { changed: async () => {} },
      triggers: NO_TRIGGERS,
      randomBytes,
      startedAt: 0,
      rpcGuard: createAddressGuard({ allowedHosts: [], blockPrivate: false }),
      webhooks: { check: () => undefined },
      wakeDelivery: () => undefined,
      pluginHttp: NO_PLUGIN_HTTP,
      log: this.log,
      metrics: this.metrics,
      clock: systemClock,
      newId: randomUUID,
    });
  }

  /** A ledger over this world, or over what stands between it and the store. */
  ledger(
    store: Pick<Store, 'write'> = this.store,
    { feed = new ChangeFeed(() => {}), onDoubt = () => {} }: { feed?: ChangeFeed; onDoubt?: () => void } = {},
  ): TransactionLedger {
    const { metrics, outbox, log, family } = this;
    const chains = new Map([['evm', family] as const]);
    return new TransactionLedger(store, { feed, metrics, outbox, chains, log, onDoubt });
  }

  /** An instance's leases over this world. */
  leases(store: Pick<Store, 'leases' | 'writeUnder'> = this.store): LeaseRegistry {
    return new LeaseRegistry({ store, elapsed: () => performance.now(), log: this.log });
  }

  /** What one step of the relayer's lane works with, as of now. */
  async step(timing: Partial<EngineTiming> = {}): Promise<LaneStep> {
    const { store, log, family, client, signer } = this;
    const open = await OpenTransactions.read(store.read, LANE);
    const chainClock = new ChainClock();
    const distrust = () => {
      this.distrusted += 1;
    };
    return {
      key: LANE,
      ledger: this.ledger(store, { onDoubt: distrust }),
      senders: new Senders(
        {
          store,
          chains: new Map([['evm', family]]),
          connections: { clientOf: () => client, close: async () => {} },
          signerOf: async () => signer,
          recheck: () => {},
        },
        LANE,
      ),
      chain: family,
      read: store.read,
      open,
      memory: new LaneMemory(fastTiming.driftMs),
      clock: {
        now: () => Date.now(),
        elapsed: () => performance.now(),
        chainTime: (ask) => chainClock.at(ask, { elapsed: () => 0, keepMs: 0, log }),
        random: () => 0,
      },
      life: { isEnding: () => false, distrust, onCheckpoint: (step) => void this.reached.push(step) },
      newId: randomUUID,
      timing: { ...fastTiming, ...timing },
      log,
    };
  }

  /** Stores a pending transaction, as the service does when it accepts one. */
  async accept(effect: string, more: Partial<Transaction> = {}): Promise<Transaction> {
    const transaction = pendingTransaction(effect, more);
    await this.store.write((writer) => writer.insertTransaction(transaction));
    return transaction;
  }

  async get({ relayerId, id }: Pick<Transaction, 'relayerId' | 'id'>): Promise<Transaction> {
    const transaction = await this.store.read.transaction(relayerId, id);
    if (transaction === undefined) throw new Error(`transaction ${id} is gone`);
    return transaction;
  }

  /** Waits until the condition holds. With `mining` the chain makes blocks in the meantime. */
  async until(what: string, holds: () => Promise<boolean>, { mining = false, withinMs = 60_000 } = {}): Promise<void> {
    const end = Date.now() + withinMs;
    while (!(await holds())) {
      if (Date.now() > end) throw new Error(`not within ${withinMs} ms: ${what}\n${this.logLines.slice(-5).join('')}`);
      if (mining) this.chain.mine();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  untilStatus(transaction: Transaction, status: string, options: { mining?: boolean } = {}): Promise<void> {
    const holds = async () => (await this.get(transaction)).status === status;
    return this.until(`${transaction.id} is ${status}`, holds, options);
  }
}

/** A relayer of the fake network. */
export function relayerNamed(id: string, more: Partial<Relayer> = {}): Relayer {
  return {
    id,
    name: id,
    network: 'fake',
    networkType: 'evm',
    address: ADDRESS,
    paused: false,
    disabledReason: null,
    signerId: 'signer-1',
    notificationId: null,
    customRpcUrls: null,
    policies: {},
    declaration: null,
    ...more,
  };
}

/** A transaction as the service stores it when it accepts one. */
export function pendingTransaction(effect: string, more: Partial<Transaction> = {}): Transaction {
  const now = Date.now();
  return {
    ...newTransaction({
      id: randomUUID(),
      relayerId: 'r1',
      networkType: 'evm',
      lane: LANE,
      createdAt: now,
      validUntil: null,
      request: { effect },
      anchorKind: 'sequence',
      onDeath: 'end',
      contentKey: null,
    }),
    ...more,
  };
}

/** The same step at another time. */
export function stepAt(step: LaneStep, clock: Partial<StepClock>): LaneStep {
  return { ...step, clock: { ...step.clock, ...clock } };
}

/** Withdraws what has expired or is refused, and signs the further attempts that are due. @returns how many were tried */
export async function signDueAttempts(step: LaneStep): Promise<number> {
  await carryOut(step, decide(step, await expired(step), momentOf(step)));
  return carryOut(step, decide(step, await prospects(step), momentOf(step)));
}

/** Fills the account's gaps. @returns how many noops were made */
export async function fillGaps(step: LaneStep): Promise<number> {
  const facts = await gaps(step);
  return facts === undefined ? 0 : carryOut(step, decide(step, facts, momentOf(step)));
}

/** Returns a value that must not be undefined. */
export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('not there');
  return value;
}
