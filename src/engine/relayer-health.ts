import type { Chain } from '../chains/chain.ts';
import type { ChainConnections } from '../chains/connections.ts';
import { AppError } from '../domain/errors.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { DisabledReason, DisabledReasonType, Relayer } from '../domain/relayer.ts';
import type { Log } from '../observability/log.ts';
import type { Store } from '../store/store.ts';
import type { EngineMetrics } from './engine-metrics.ts';
import { reasonOf } from './lane-step.ts';
import type { Outbox } from './outbox.ts';
import { Pause } from './pause.ts';
import type { EngineTiming } from './timing.ts';

export interface RelayerHealthDeps {
  store: Store;
  chains: ReadonlyMap<NetworkType, Chain>;
  connections: ChainConnections;
  log: Log;
  metrics: EngineMetrics;
  outbox: Outbox;
  timing: Pick<EngineTiming, 'firstCheckMs' | 'recheckMs'>;
}

/** What clients are told; the causes, which may name endpoints, go to the log. The texts are the reference's. */
const DETAILS: Record<DisabledReasonType, string> = {
  NonceSyncFailed: 'Nonce synchronization failed',
  RpcValidationFailed: 'RPC endpoint validation failed',
  BalanceCheckFailed: 'Insufficient balance',
  SequenceSyncFailed: 'Sequence synchronization failed',
};

interface Failure {
  type: DisabledReasonType;
  cause: string;
}

/** Checks of one relayer, for as long as it is not fit. */
interface Watch {
  ended: Promise<void>;
  pause: Pause;
  /** Something changed since the check under way began. */
  again: boolean;
}

/** Checks each relayer at the start and, while it is disabled, again and again until it is fit. */
export class RelayerHealth {
  readonly #deps: RelayerHealthDeps;
  readonly #watches = new Map<string, Watch>();
  readonly #pauses = new Set<Pause>();
  #starting: Promise<void> | null = null;
  #closed = false;

  constructor(deps: RelayerHealthDeps) {
    this.#deps = deps;
  }

  /** Resolves when all were checked once, or after `firstCheckMs`; the checks go on in either case. */
  start(): Promise<void> {
    this.#starting ??= this.#checkAll();
    return this.#starting;
  }

  async #checkAll(): Promise<void> {
    const { store, timing } = this.#deps;
    const relayers = await store.read.allRelayers();
    const checked = Promise.all(relayers.map(({ id }) => this.#watch(id)));
    await this.#atMost(timing.firstCheckMs, checked);
  }

  /** Ends after the checks under way; a second call does nothing more. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const pause of this.#pauses) pause.end();
    for (const { pause } of this.#watches.values()) pause.end();
    await Promise.allSettled([this.#starting]);
    await Promise.all([...this.#watches.values()].map(({ ended }) => ended));
  }

  /** Checks a relayer once more, now: what the checks depend on has changed. */
  recheck(id: string): void {
    if (this.#closed) return;
    const watch = this.#watches.get(id);
    if (watch === undefined) {
      void this.#watch(id);
    } else {
      watch.again = true;
      watch.pause.end();
    }
  }

  /** Watches a relayer until it is fit. Resolves after the first check. */
  #watch(id: string): Promise<void> {
    return new Promise((resolve) => {
      const watch: Watch = { pause: new Pause(), again: false, ended: Promise.resolve() };
      this.#watches.set(id, watch);
      watch.ended = this.#checkUntilFit(id, watch, resolve).finally(() => this.#watches.delete(id));
    });
  }

  async #checkUntilFit(id: string, watch: Watch, onFirst: () => void): Promise<void> {
    const { recheckMs } = this.#deps.timing;
    for (let round = 0; !this.#closed; round += 1) {
      watch.again = false;
      const fit = await this.#check(id, Math.max(round - 1, 0));
      onFirst();
      if (fit && !watch.again) return;
      await watch.pause.last(fit ? 0 : (recheckMs[Math.min(round, recheckMs.length - 1)] ?? 0));
    }
    onFirst();
  }

  /**
   * @param failedRechecks how many repetitions have failed before this one
   * @returns true when there is no reason to check again
   */
  async #check(id: string, failedRechecks: number): Promise<boolean> {
    const { store, log, metrics } = this.#deps;
    try {
      const relayer = await store.read.relayer(id);
      if (relayer === undefined) return true;
      const failures = await this.#failuresOf(relayer);
      await this.#settle(relayer, failures, failedRechecks);
      metrics.relayerChecked(id, failures.length === 0);
      return failures.length === 0;
    } catch (error) {
      log.error({ err: error, relayer: id }, 'relayer check failed');
      return false;
    }
  }

  async #failuresOf(relayer: Relayer): Promise<Failure[]> {
    const chain = this.#deps.chains.get(relayer.networkType);
    if (chain === undefined) return [{ type: 'RpcValidationFailed', cause: `no family ${relayer.networkType}` }];
    try {
      const client = this.#deps.connections.clientOf(relayer);
      const checks: [DisabledReasonType, Promise<unknown>][] = [
        ['RpcValidationFailed', client.identity().then((identity) => this.#pin(relayer, identity))],
      ];
      if (chain.counter !== null) checks.push([chain.counter.failure, client.nextSequence(relayer.address)]);
      const least = chain.minimumBalance(relayer.policies);
      if (least !== null) {
        checks.push(['BalanceCheckFailed', client.balance(relayer.address).then((balance) => reaches(balance, least))]);
      }
      const outcomes = await Promise.allSettled(checks.map(([, check]) => check));
      return checks.flatMap(([type], index) => {
        const outcome = outcomes[index];
        if (outcome?.status !== 'rejected' || isNotAvailableYet(outcome.reason)) return [];
        return [{ type, cause: reasonOf(outcome.reason) }];
      });
    } catch (error) {
      return [{ type: 'RpcValidationFailed', cause: reasonOf(error) }];
    }
  }

  /** The first contact with a network pins its chain: endpoints that later serve another one are refused. */
  async #pin({ networkType, network }: Relayer, identity: string): Promise<void> {
    const { store } = this.#deps;
    const pinned = await store.read.chainIdentity(networkType, network);
    if (pinned === undefined) {
      await store.write((writer) => writer.pinChainIdentity(networkType, network, identity));
    } else if (pinned !== identity) {
      throw new Error(`the endpoints serve chain ${identity}, but network ${network} was chain ${pinned} before`);
    }
  }

  async #settle({ id, network }: Relayer, failures: readonly Failure[], failedRechecks: number): Promise<void> {
    const { store, log, outbox } = this.#deps;
    const reason = disabledReasonOf(failures);
    const before = await store.write(async (writer) => {
      const relayer = await writer.relayer(id);
      if (relayer === undefined || sameReason(relayer.disabledReason, reason)) return undefined;
      const changed = { ...relayer, disabledReason: reason };
      await writer.putRelayer(changed);
      if (reason === null) await outbox.relayerEnabled(writer, changed, failedRechecks);
      else if (relayer.disabledReason === null) await outbox.relayerDisabled(writer, changed, reason);
      return { wasDisabled: relayer.disabledReason !== null };
    });
    outbox.committed();
    if (reason !== null) {
      const causes = failures.map(({ type, cause }) => `${type}: ${cause}`);
      log.warn({ relayer: id, network, causes }, before === undefined ? 'relayer still disabled' : 'relayer disabled');
    } else if (before !== undefined) {
      log.info({ relayer: id, network }, 'relayer enabled');
    }
  }

  async #atMost(milliseconds: number, done: Promise<unknown>): Promise<void> {
    const pause = new Pause();
    this.#pauses.add(pause);
    void done.then(() => pause.end());
    await pause.last(milliseconds);
    this.#pauses.delete(pause);
  }
}

/** What a chain family cannot do yet is no fault of its relayers. */
function isNotAvailableYet(reason: unknown): boolean {
  return reason instanceof AppError && reason.code === 'NOT_AVAILABLE_YET';
}

function reaches(balance: bigint, least: bigint): void {
  if (balance < least) throw new Error(`the balance is ${balance}, the policy asks for ${least}`);
}

function disabledReasonOf(failures: readonly Failure[]): DisabledReason | null {
  const reasons = failures.map(({ type }) => ({ type, details: DETAILS[type] }));
  const [only, ...others] = reasons;
  if (only === undefined) return null;
  return others.length === 0 ? only : { type: 'Multiple', details: reasons };
}

function sameReason(a: DisabledReason | null, b: DisabledReason | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
