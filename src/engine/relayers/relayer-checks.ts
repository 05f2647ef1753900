import { type Chain, isSameChain } from '../../chains/chain.ts';
import type { ChainClient } from '../../chains/chain-client.ts';
import type { ChainConnections, EndpointContacts } from '../../chains/rpc-connections.ts';
import { AppError, messageOf } from '../../domain/errors.ts';
import type { NetworkType } from '../../domain/network-type.ts';
import { Turns } from '../../domain/turns.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import { COMMON_RELAYER_CHECKS, type DisabledReason } from '../../features/relayers/records/disabled-reason.ts';
import type { Relayer } from '../../features/relayers/records/relayer.ts';
import type { Log } from '../../observability/log.ts';
import type { Store } from '../../store/store.ts';
import type { EngineTiming } from '../timing.ts';
import type { BalanceReading } from './balance-watch.ts';

export interface RelayerChecksDeps {
  store: Pick<Store, 'read'>;
  chains: ReadonlyMap<NetworkType, Chain>;
  connections: ChainConnections;
  contacts: EndpointContacts;
  timing: Pick<EngineTiming, 'checkMs'>;
  /** Why a relayer's signer cannot sign for it; undefined when it can. Absent: signers are not checked. */
  keyFault?: ((relayer: Relayer) => Promise<string | undefined>) | undefined;
  /** On a clock that never goes back, in milliseconds. */
  elapsed(): number;
  /** Called with each balance that an endpoint of the relayer's own chain has told. */
  onBalance?(seen: BalanceReading): void;
  log: Log;
}

/** One check that failed, and why; it names no more of an endpoint than its host. */
export interface CheckFailure {
  type: string;
  /** What clients are told first; the cause follows. */
  title: string;
  cause: string;
  /**
   * True when the failure is certain, for instance because a node said so of the account. Otherwise this instance may
   * only not reach the chain, and another one may.
   */
  isFact?: boolean;
}

/** What the checks of a relayer have found. */
export interface RelayerFindings {
  failures: readonly CheckFailure[];
  /** The chain that the relayer's endpoints serve; null when they did not say. */
  identity: string | null;
  /** The chain that the network was found to be before; undefined at the first contact. */
  pinned: string | undefined;
  /** No endpoint answered anything for too long to be a short interruption. */
  isSilence?: boolean;
}

/** The most stray endpoints that are remembered, as clients may change endpoints at will. */
const MAX_STRAYS = 1_000;

/**
 * The most relayers on the same endpoints that are checked at once. Their calls fit into the requests that an endpoint
 * gets at once. With thousands at once, a node would be flooded, and the last calls would run out of time.
 */
const CHECKS_AT_ONCE = 64;

/** Which chain the endpoints of a network serve, asked once for many of its relayers. */
export type SharedIdentityChecks = Map<ChainClient, Promise<string>>;

/** Asks the endpoints whether a relayer can work. Changes nothing. */
export class RelayerChecks {
  readonly #deps: RelayerChecksDeps;
  readonly #strays = new Set<string>();
  readonly #risks = new Set<string>();
  readonly #turns = new WeakMap<ChainClient, Turns>();

  constructor(deps: RelayerChecksDeps) {
    this.#deps = deps;
  }

  /**
   * Makes all checks and returns every failure. Stops waiting when the endpoints answer no call at all, whoever makes
   * it, for `checkMs`. Busy endpoints may take their time, but endpoints that hang would take minutes. The same holds
   * for the wait until other relayers on these endpoints have been checked.
   */
  async all(relayer: Relayer): Promise<RelayerFindings> {
    const { timing, contacts, elapsed } = this.#deps;
    const pinned = await this.#pinned(relayer);
    const silent = { ...unusable(pinned, silence(timing.checkMs)), isSilence: true };
    let isOver = false;
    const checks = this.#inTurn(relayer, pinned, async (client, chain) =>
      isOver ? silent : this.#ask(relayer, pinned, client, chain),
    );
    for (;;) {
      const since = elapsed();
      const findings = await withTimeout(timing.checkMs, checks);
      if (findings !== undefined) return findings;
      // Endpoints that are not watched count as serving for ever, which says nothing about this moment.
      const heardAt = contacts.contactOf(relayer)?.servedAt ?? Number.NEGATIVE_INFINITY;
      if (heardAt < since || heardAt === Number.POSITIVE_INFINITY) {
        isOver = true;
        return silent;
      }
    }
  }

  async #inTurn(
    relayer: Relayer,
    pinned: string | undefined,
    check: (client: ChainClient, chain: Chain) => Promise<RelayerFindings>,
  ): Promise<RelayerFindings> {
    const { chains, connections } = this.#deps;
    const chain = chains.get(relayer.networkType);
    if (chain === undefined) return unusable(pinned, `no family ${relayer.networkType}`);
    let client: ChainClient;
    try {
      client = connections.clientOf(relayer);
    } catch (error) {
      return unusable(pinned, messageOf(error));
    }
    const turns = this.#turns.get(client) ?? new Turns(CHECKS_AT_ONCE);
    this.#turns.set(client, turns);
    return await turns.take(() => check(client, chain));
  }

  async #ask(
    relayer: Relayer,
    pinned: string | undefined,
    client: ChainClient,
    chain: Chain,
  ): Promise<RelayerFindings> {
    const served: string[] = [];
    let seen: BalanceReading | undefined;
    const [identity, sequence, balance, policies, keyFault] = await Promise.all([
      outcomeOf(() => this.#identity(relayer, client, pinned, (chain) => served.push(chain))),
      outcomeOf(async () => {
        await client.sequences?.next(relayer.address, pinned);
      }),
      outcomeOf(() => checkBalance(chain, client, relayer, pinned, (balance) => (seen = balance))),
      outcomeOf(() => checkPolicies(client, relayer, pinned, (risk) => this.#warnOfRisk(relayer, risk))),
      this.#keyFault(relayer),
    ]);
    // The endpoints serve another chain, so the other checks say nothing.
    if ('cause' in identity && served.length > 0) return unusable(pinned, identity.cause);
    if ('value' in identity && seen !== undefined) this.#deps.onBalance?.(seen);
    const failures: CheckFailure[] = [];
    if ('cause' in identity) failures.push(rpcFailure(identity.cause));
    if ('cause' in sequence && chain.sequence !== undefined) {
      const { type, text: title } = chain.sequence.failure;
      failures.push({ type, title, cause: sequence.cause });
    }
    if ('cause' in balance) {
      const isFact = balance.error instanceof BalanceTooLow;
      const title = isFact ? COMMON_RELAYER_CHECKS.BalanceCheckFailed : 'Balance not known';
      failures.push({ type: 'BalanceCheckFailed', title, cause: balance.cause, isFact });
    }
    // If the policies cannot be checked at all, the other failures say why.
    if ('cause' in policies && policies.error instanceof PoliciesUnfit) {
      const title = COMMON_RELAYER_CHECKS.PolicyCheckFailed;
      failures.push({ type: 'PolicyCheckFailed', title, cause: policies.cause, isFact: true });
    }
    if (keyFault !== undefined) {
      const title = COMMON_RELAYER_CHECKS.SignerCheckFailed;
      failures.push({ type: 'SignerCheckFailed', title, cause: keyFault, isFact: true });
    }
    return { failures, identity: 'value' in identity ? identity.value : null, pinned };
  }

  /**
   * A short check of a fit relayer: whether an endpoint serves its chain, and whether the account has its least
   * balance. Relayers on the same endpoints share the answer about the chain.
   * @returns false when all checks had better be made
   */
  async seemWell(relayer: Relayer, share: SharedIdentityChecks): Promise<boolean> {
    const chain = this.#deps.chains.get(relayer.networkType);
    if (chain === undefined) return false;
    const pinned = await this.#pinned(relayer);
    let seen: BalanceReading | undefined;
    const outcome = await outcomeOf(async () => {
      const client = this.#deps.connections.clientOf(relayer);
      const identity = share.get(client) ?? this.#identity(relayer, client, pinned, () => {});
      share.set(client, identity);
      await Promise.all([
        identity.then(
          (found) => assertSame(found, pinned),
          (error: unknown) => {
            share.delete(client);
            throw error;
          },
        ),
        checkBalance(chain, client, relayer, pinned, (balance) => (seen = balance)),
      ]);
      if (seen !== undefined) this.#deps.onBalance?.(seen);
    });
    return !('cause' in outcome) && ('isUnknown' in outcome || pinned !== undefined);
  }

  /**
   * Why the signer cannot sign. Undefined also when the signer's service does not answer: it may answer by the time
   * that something is signed. It gets half the time of a check, so that its silence does not pass for that of the
   * endpoints.
   */
  async #keyFault(relayer: Relayer): Promise<string | undefined> {
    const { keyFault, timing } = this.#deps;
    if (keyFault === undefined) return undefined;
    return await withTimeout(timing.checkMs / 2, keyFault(relayer)).catch(() => undefined);
  }

  /** Warns once of what the policies name. */
  #warnOfRisk({ id }: Relayer, risk: string): void {
    const key = JSON.stringify([id, risk]);
    if (this.#risks.has(key)) return;
    if (this.#risks.size >= MAX_STRAYS) this.#risks.clear();
    this.#risks.add(key);
    this.#deps.log.warn({ relayer: id, risk }, 'the policies allow something risky');
  }

  #pinned({ networkType, network }: Relayer): Promise<string | undefined> {
    return this.#deps.store.read.chainIdentity(networkType, network);
  }

  /** @throws when no endpoint serves the chain that the network was before, or none tells its chain */
  async #identity(
    { networkType, network }: Relayer,
    client: ChainClient,
    pinned: string | undefined,
    onServed: (chain: string) => void,
  ): Promise<string> {
    const served: { host: string; chain: string }[] = [];
    const identity = await client.identity(pinned, (host, chain) => {
      served.push({ host, chain });
      onServed(chain);
    });
    for (const { host, chain } of served) {
      const stray = JSON.stringify([networkType, network, host, chain]);
      if (chain === identity || this.#strays.has(stray)) continue;
      if (this.#strays.size >= MAX_STRAYS) this.#strays.clear();
      this.#strays.add(stray);
      this.#deps.log.warn({ network, endpoint: host, serves: chain, expected: identity }, 'endpoint of another chain');
    }
    if (pinned !== undefined && !isSameChain(this.#deps.chains.get(networkType), pinned, identity)) {
      throw new Error(`the endpoints serve chain ${identity}, but network ${network} was chain ${pinned} before`);
    }
    return identity;
  }
}

/**
 * @throws when the chain has another identity, as a development chain that was started anew: then all checks are needed
 */
function assertSame(identity: string, pinned: string | undefined): void {
  if (pinned !== undefined && identity !== pinned) throw new Error(`chain ${identity} in the place of ${pinned}`);
}

/** @throws when the balance cannot be read or is below what the policy asks for */
async function checkBalance(
  chain: Chain,
  client: ChainClient,
  relayer: Relayer,
  identity: string | undefined,
  onSeen: (seen: BalanceReading) => void,
): Promise<void> {
  const { address, policies } = relayer;
  const least = chain.minimumBalance(policies);
  if (least === null) return;
  const ask = (atLeast: bigint) => client.balance(address, { identity, least: atLeast });
  const balance = await ask(least);
  onSeen({ relayer, balance, minBalance: least, again: ask });
  if (balance < least)
    throw new BalanceTooLow(`${address} has ${balance} ${chain.unit}, min_balance asks for ${least}`);
}

/** @throws when the policies name something that the chain does not have */
async function checkPolicies(
  client: ChainClient,
  { address, policies }: Relayer,
  identity: string | undefined,
  onRisk: (risk: string) => void,
): Promise<void> {
  const faults = (await client.policyFaults?.({ address, policies, identity }, onRisk)) ?? [];
  if (faults.length > 0) throw new PoliciesUnfit(faults.join('; '));
}

/** The chain shows that the policies do not fit. */
class PoliciesUnfit extends Error {}

/** A node has told a balance below the least one. */
class BalanceTooLow extends Error {}

function unusable(pinned: string | undefined, cause: string): RelayerFindings {
  return { failures: [rpcFailure(cause)], identity: null, pinned };
}

function rpcFailure(cause: string): CheckFailure {
  return { type: 'RpcValidationFailed', title: COMMON_RELAYER_CHECKS.RpcValidationFailed, cause };
}

function silence(ms: number): string {
  return `no endpoint has answered anything for ${ms / 1000} s`;
}

/**
 * Runs a check and returns its result or its failure. A check that the chain family cannot make yet is unknown, not
 * failed.
 */
async function outcomeOf<T>(
  check: () => Promise<T>,
): Promise<{ value: T } | { cause: string; error: unknown } | { isUnknown: true }> {
  try {
    return { value: await check() };
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_AVAILABLE_YET') return { isUnknown: true };
    return { cause: messageOf(error), error };
  }
}

/** The failures in the form that clients are told; null when there is none. */
export function disabledReasonOf(failures: readonly CheckFailure[], nextCheckAt: number): DisabledReason | null {
  // Endpoints that do not answer fail every check for the same cause. The cause is told once.
  const isFirst = ({ cause }: CheckFailure, index: number) =>
    failures.findIndex((one) => one.cause === cause) === index;
  const causes = failures.map((failure, index) => ({
    type: failure.type,
    details: isFirst(failure, index) ? `${failure.title}: ${failure.cause}` : failure.title,
  }));
  const [only, ...others] = causes;
  if (only === undefined) return null;
  return others.length === 0 ? { ...only, nextCheckAt } : { type: 'Multiple', details: causes, nextCheckAt };
}
