import type { Chain } from '../../chains/chain.ts';
import type { ChainClient } from '../../chains/chain-client.ts';
import type { ChainConnections, Contacts } from '../../chains/connections.ts';
import { isSameChain } from '../../chains/same-chain.ts';
import { AppError, messageOf } from '../../domain/errors.ts';
import { inTime } from '../../domain/in-time.ts';
import type { NetworkType } from '../../domain/network-type.ts';
import { COMMON_CHECKS, type DisabledReason, type Relayer } from '../../domain/relayer/relayer.ts';
import type { Log } from '../../observability/log.ts';
import type { Store } from '../../store/store.ts';
import type { EngineTiming } from '../timing.ts';
import type { SeenBalance } from './balance-watch.ts';

export interface RelayerChecksDeps {
  store: Pick<Store, 'read'>;
  chains: ReadonlyMap<NetworkType, Chain>;
  connections: ChainConnections;
  contacts: Contacts;
  timing: Pick<EngineTiming, 'checkMs'>;
  /** Why its signer cannot sign for a relayer; undefined when it can. Absent where nobody looks. */
  keyFault?: ((relayer: Relayer) => Promise<string | undefined>) | undefined;
  /** On a clock that never goes back, in milliseconds. */
  elapsed(): number;
  /** Told of each balance that an endpoint of the relayer's own chain has told. */
  onBalance?(seen: SeenBalance): void;
  log: Log;
}

/** One check that failed, and why; it names no more of an endpoint than its host. */
export interface CheckFailure {
  type: string;
  /** What clients are told first; the cause follows. */
  title: string;
  cause: string;
  /** A node said so of the account. What is no fact is that this instance does not reach the chain; another one may. */
  isFact?: boolean;
}

/** What the checks of a relayer have found. */
export interface Findings {
  failures: readonly CheckFailure[];
  /** The chain that its endpoints serve; null when they did not say. */
  identity: string | null;
  /** What the network was found to be before; undefined at the first contact. */
  pinned: string | undefined;
  /** No endpoint answered anything for so long that it is no hiccup. */
  isSilence?: boolean;
}

/** A bound for what is remembered of endpoints, which clients may change. */
const MOST_STRAYS = 1_000;

/** Which chain the endpoints of a network serve, asked once for many of its relayers. */
export type IdentityShare = Map<ChainClient, Promise<string>>;

/** Asks the endpoints whether a relayer can work. Changes nothing. */
export class RelayerChecks {
  readonly #deps: RelayerChecksDeps;
  readonly #strays = new Set<string>();

  constructor(deps: RelayerChecksDeps) {
    this.#deps = deps;
  }

  /**
   * All checks; each is made, and every one that fails is told. They are not waited for while nothing that is asked of
   * the endpoints, by whomever, is answered: a busy line takes its time, one that hangs would take minutes.
   */
  async all(relayer: Relayer): Promise<Findings> {
    const { timing, contacts, elapsed } = this.#deps;
    const pinned = await this.#pinned(relayer);
    const asked = this.#ask(relayer, pinned);
    for (;;) {
      const since = elapsed();
      const findings = await inTime(timing.checkMs, asked);
      if (findings !== undefined) return findings;
      // Where nobody watches the endpoints, they count as serving for ever: that is no word of this moment.
      const heardAt = contacts.contactOf(relayer)?.servedAt ?? Number.NEGATIVE_INFINITY;
      if (heardAt < since || heardAt === Number.POSITIVE_INFINITY)
        return { ...unusable(pinned, silence(timing.checkMs)), isSilence: true };
    }
  }

  async #ask(relayer: Relayer, pinned: string | undefined): Promise<Findings> {
    const { chains, connections } = this.#deps;
    const chain = chains.get(relayer.networkType);
    if (chain === undefined) return unusable(pinned, `no family ${relayer.networkType}`);
    let client: ChainClient;
    try {
      client = connections.clientOf(relayer);
    } catch (error) {
      return unusable(pinned, messageOf(error));
    }
    const told: string[] = [];
    let seen: SeenBalance | undefined;
    const [identity, sequence, balance, policies, keyFault] = await Promise.all([
      outcomeOf(() => this.#identity(relayer, client, pinned, (served) => told.push(served))),
      outcomeOf(async () => {
        await client.sequences?.next(relayer.address, pinned);
      }),
      outcomeOf(() => checkBalance(chain, client, relayer, pinned, (balance) => (seen = balance))),
      outcomeOf(() => checkPolicies(client, relayer, pinned)),
      this.#keyFault(relayer),
    ]);
    // What an account has on another chain says nothing.
    if ('cause' in identity && told.length > 0) return unusable(pinned, identity.cause);
    if ('value' in identity && seen !== undefined) this.#deps.onBalance?.(seen);
    const failures: CheckFailure[] = [];
    if ('cause' in identity) failures.push(rpcFailure(identity.cause));
    if ('cause' in sequence && chain.counter !== undefined) {
      const { type, text: title } = chain.counter.failure;
      failures.push({ type, title, cause: sequence.cause });
    }
    if ('cause' in balance) {
      const isFact = balance.error instanceof BalanceTooLow;
      const title = isFact ? COMMON_CHECKS.BalanceCheckFailed : 'Balance not known';
      failures.push({ type: 'BalanceCheckFailed', title, cause: balance.cause, isFact });
    }
    // That they cannot be looked at is told by the others.
    if ('cause' in policies && policies.error instanceof PoliciesUnfit) {
      const title = COMMON_CHECKS.PolicyCheckFailed;
      failures.push({ type: 'PolicyCheckFailed', title, cause: policies.cause, isFact: true });
    }
    if (keyFault !== undefined) {
      const title = COMMON_CHECKS.SignerCheckFailed;
      failures.push({ type: 'SignerCheckFailed', title, cause: keyFault, isFact: true });
    }
    return { failures, identity: 'value' in identity ? identity.value : null, pinned };
  }

  /**
   * A short form for a relayer that is fit: whether an endpoint serves its chain and the account has its balance.
   * Relayers on the same endpoints share the first question.
   * @returns false when all checks had better be made
   */
  async seemWell(relayer: Relayer, share: IdentityShare): Promise<boolean> {
    const chain = this.#deps.chains.get(relayer.networkType);
    if (chain === undefined) return false;
    const pinned = await this.#pinned(relayer);
    let seen: SeenBalance | undefined;
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
   * Undefined also where the signer's service does not answer: it may by the time that something is signed. It gets half
   * the time of a check, so that its silence is not taken for that of the endpoints.
   */
  async #keyFault(relayer: Relayer): Promise<string | undefined> {
    const { keyFault, timing } = this.#deps;
    if (keyFault === undefined) return undefined;
    return await inTime(timing.checkMs / 2, keyFault(relayer)).catch(() => undefined);
  }

  #pinned({ networkType, network }: Relayer): Promise<string | undefined> {
    return this.#deps.store.read.chainIdentity(networkType, network);
  }

  /** @throws when no endpoint serves the chain that is known, or none can be known */
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
      if (this.#strays.size >= MOST_STRAYS) this.#strays.clear();
      this.#strays.add(stray);
      this.#deps.log.warn({ network, endpoint: host, serves: chain, expected: identity }, 'endpoint of another chain');
    }
    if (pinned !== undefined && !isSameChain(this.#deps.chains.get(networkType), pinned, identity)) {
      throw new Error(`the endpoints serve chain ${identity}, but network ${network} was chain ${pinned} before`);
    }
    return identity;
  }
}

/** @throws when a chain for development was started anew: all has to be checked then */
function assertSame(identity: string, pinned: string | undefined): void {
  if (pinned !== undefined && identity !== pinned) throw new Error(`chain ${identity} in the place of ${pinned}`);
}

/** @throws when the balance cannot be read or is below what the policy asks for */
async function checkBalance(
  chain: Chain,
  client: ChainClient,
  relayer: Relayer,
  identity: string | undefined,
  onSeen: (seen: SeenBalance) => void,
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

/** @throws when the policies name what the chain does not have */
async function checkPolicies(
  client: ChainClient,
  { address, policies }: Relayer,
  identity: string | undefined,
): Promise<void> {
  const faults = (await client.policyFaults?.({ address, policies, identity })) ?? [];
  if (faults.length > 0) throw new PoliciesUnfit(faults.join('; '));
}

/** The chain has told it. */
class PoliciesUnfit extends Error {}

/** A node has told the balance. */
class BalanceTooLow extends Error {}

function unusable(pinned: string | undefined, cause: string): Findings {
  return { failures: [rpcFailure(cause)], identity: null, pinned };
}

function rpcFailure(cause: string): CheckFailure {
  return { type: 'RpcValidationFailed', title: COMMON_CHECKS.RpcValidationFailed, cause };
}

function silence(ms: number): string {
  return `no endpoint has answered anything for ${ms / 1000} s`;
}

/** What a chain family cannot do yet is no fault of its relayers, and tells nothing. */
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

/** As clients are told of the failures; null when there is none. */
export function disabledReasonOf(failures: readonly CheckFailure[], nextCheckAt: number): DisabledReason | null {
  // Endpoints that do not answer fail every check for the same cause: it is told once.
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
