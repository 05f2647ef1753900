import type { Chain } from '../chains/chain.ts';
import type { ChainConnections } from '../chains/connections.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { DisabledReason, DisabledReasonType, Relayer } from '../domain/relayer.ts';
import type { Log } from '../observability/log.ts';
import type { Store } from '../store/store.ts';
import type { EngineMetrics } from './engine-metrics.ts';
import { reasonOf } from './lane-step.ts';
import { Pause } from './pause.ts';
import type { EngineTiming } from './timing.ts';

export interface RelayerHealthDeps {
  store: Store;
  chains: ReadonlyMap<NetworkType, Chain>;
  connections: ChainConnections;
  log: Log;
  metrics: EngineMetrics;
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

/** Checks each relayer at the start and, while it is disabled, again and again until it is fit. */
export class RelayerHealth {
  readonly #deps: RelayerHealthDeps;
  readonly #watches = new Map<string, Promise<void>>();
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
    await Promise.allSettled([this.#starting]);
    await Promise.all(this.#watches.values());
  }

  /** Watches a relayer until it is fit. Resolves after the first check. */
  #watch(id: string): Promise<void> {
    return new Promise((resolve) => {
      this.#watches.set(
        id,
        this.#checkUntilFit(id, resolve).finally(() => this.#watches.delete(id)),
      );
    });
  }

  async #checkUntilFit(id: string, onFirst: () => void): Promise<void> {
    const { recheckMs } = this.#deps.timing;
    for (let round = 0; !this.#closed; round += 1) {
      const fit = await this.#check(id);
      onFirst();
      if (fit) return;
      await this.#rest(recheckMs[Math.min(round, recheckMs.length - 1)] ?? 0);
    }
    onFirst();
  }

  /** @returns true when there is no reason to check again */
  async #check(id: string): Promise<boolean> {
    const { store, log, metrics } = this.#deps;
    try {
      const relayer = await store.read.relayer(id);
      if (relayer === undefined) return true;
      const failures = await this.#failuresOf(relayer);
      await this.#settle(relayer, failures);
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
        return outcome?.status === 'rejected' ? [{ type, cause: reasonOf(outcome.reason) }] : [];
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

  async #settle({ id, network }: Relayer, failures: readonly Failure[]): Promise<void> {
    const { store, log } = this.#deps;
    const reason = disabledReasonOf(failures);
    const before = await store.write(async (writer) => {
      const relayer = await writer.relayer(id);
      if (relayer === undefined || sameReason(relayer.disabledReason, reason)) return undefined;
      await writer.putRelayer({ ...relayer, disabledReason: reason });
      return { wasDisabled: relayer.disabledReason !== null };
    });
    if (reason !== null) {
      const causes = failures.map(({ type, cause }) => `${type}: ${cause}`);
      log.warn({ relayer: id, network, causes }, before === undefined ? 'relayer still disabled' : 'relayer disabled');
    } else if (before !== undefined) {
      log.info({ relayer: id, network }, 'relayer enabled');
    }
  }

  async #rest(milliseconds: number): Promise<void> {
    if (this.#closed) return;
    const pause = new Pause();
    this.#pauses.add(pause);
    await pause.last(milliseconds);
    this.#pauses.delete(pause);
  }

  async #atMost(milliseconds: number, done: Promise<unknown>): Promise<void> {
    const pause = new Pause();
    this.#pauses.add(pause);
    void done.then(() => pause.end());
    await pause.last(milliseconds);
    this.#pauses.delete(pause);
  }
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
