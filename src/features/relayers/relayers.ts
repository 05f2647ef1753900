import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainClient } from '../../chains/chain-client.ts';
import { AppError } from '../../domain/errors.ts';
import { didYouMean } from '../../domain/json/issue-text.ts';
import type { WireObject } from '../../domain/json/json.ts';
import { whenKnown } from '../../domain/when-known.ts';
import { wireTime } from '../../domain/wire-time.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Store, StoreReader } from '../../store/store.ts';
import type { Access } from '../api-keys/records/access.ts';
import type { Caller } from '../api-keys/records/caller.ts';
import { changeSettingsOnce } from '../resource.ts';
import type { RelayersService } from '../services.ts';
import { laneKey } from '../transactions/records/lane.ts';
import type { Relayer } from './records/relayer.ts';
import type { RelayerAccess, RelayerDirectory } from './relayer-access.ts';
import { relayerAudit } from './relayer-form.ts';

export interface RelayersDeps {
  read: StoreReader;
  relayers: RelayerDirectory;
  /** Makes a relayer and resolves with it. */
  create(body: unknown, by: Caller): Promise<Relayer>;
  /** Deletes a relayer that has no transaction under way. */
  remove(relayerId: string, by: Caller): Promise<void>;
  /** Changes a relayer and resolves with the changed relayer. */
  update(relayerId: string, body: unknown, by: Caller): Promise<Relayer>;
}

/** Shows, creates, changes and deletes relayers. `paused` and `disabled` block none of this. */
export function createRelayersService({ read, relayers, create, remove, update }: RelayersDeps): RelayersService {
  const identityOf = ({ networkType, network }: Relayer) => read.chainIdentity(networkType, network);
  const viewOf = (relayer: Relayer) => relayers.viewOf(relayer);

  /** Returns the lane's next sequence, from the chain and the store. Uses the store alone when no endpoint answers. */
  async function counterOf(access: RelayerAccess, identity: string | undefined): Promise<Record<string, ChainValue>> {
    const { relayer, chain, account } = access;
    if (chain.sequence === undefined) return {};
    const lane = identity === undefined ? null : laneKey(relayer.networkType, identity, account.address);
    // The store is read first. A transaction that gets into a block in between is then counted by the chain.
    const known = lane === null ? null : await read.knownSequence(lane);
    const counted = await askChain(access, (client) => nextOf(client, relayer, identity));
    const next = known !== null && (counted.value === null || known > counted.value) ? known : counted.value;
    const { statusKey, showsLast = false } = chain.sequence;
    return { [statusKey]: next === null ? counted : { value: showsLast ? next - 1n : next } };
  }

  async function balanceOf(access: RelayerAccess, identity: string | undefined): Promise<ChainValue> {
    return askChain(access, (client) => client.balance(access.account.address, { identity }));
  }

  async function statusOf(relayerId: string): Promise<WireObject> {
    const access = await relayers.find(relayerId);
    const { relayer } = access;
    const identity = await identityOf(relayer);
    const [balance, pending, confirmedAt, counter] = await Promise.all([
      balanceOf(access, identity),
      read.pendingCount(relayerId),
      read.lastConfirmedAt(relayerId),
      counterOf(access, identity),
    ]);
    return Object.freeze({
      network_type: relayer.networkType,
      balance: shown(balance),
      pending_transactions_count: pending,
      last_confirmed_transaction_timestamp: confirmedAt === null ? null : wireTime(confirmedAt),
      system_disabled: relayer.disabledReason !== null,
      paused: relayer.paused,
      ...Object.fromEntries(Object.entries(counter).map(([key, value]) => [key, shown(value)])),
      ...unavailable({ balance, ...counter }),
    });
  }

  const statuses = new SharedLooks(statusOf);

  return {
    get: (relayerId) => whenKnown(relayers.relayer(relayerId), viewOf),

    async list(page, filter) {
      const { items, total } = await read.relayers(page, filter);
      return { items: items.map(viewOf), total };
    },

    async create(body, by) {
      return viewOf(await create(body, by));
    },

    remove,

    async update(relayerId, body, by) {
      return viewOf(await update(relayerId, body, by));
    },

    async status(relayerId) {
      await relayers.assertThere(relayerId);
      return statuses.of(relayerId);
    },

    async balance(relayerId) {
      const access = await relayers.find(relayerId);
      const balance = await balanceOf(access, await identityOf(access.relayer));
      return { balance: balance.value, unit: access.chain.unit, ...unavailable({ balance }) };
    },
  };
}

/** Looks at the same begin at least so far apart, in milliseconds. */
const LOOK_APART_MS = 1;
/** How long those who ask wait for a look that takes long, in milliseconds. */
const LOOK_WAIT_MS = 10;

interface Look<T> {
  readonly over: Promise<unknown>;
  /** What those share who have asked meanwhile. */
  next: Promise<T> | undefined;
}

/**
 * Lets those who ask while a look is under way share the next one, which begins after all of them have asked: when the
 * present one is over, or soon, should that take long. So nobody gets what was true before he asked, and many who ask
 * at once cost the nodes no more than a few.
 */
class SharedLooks<T> {
  readonly #look: (key: string) => Promise<T>;
  /** The last look of each key, until it is over and the next may begin. */
  readonly #under = new Map<string, Look<T>>();

  constructor(look: (key: string) => Promise<T>) {
    this.#look = look;
  }

  of(key: string): Promise<T> {
    const under = this.#under.get(key);
    if (under === undefined) return this.#begin(key);
    under.next ??= withTimeout(LOOK_WAIT_MS, under.over).then(() => this.#begin(key));
    return under.next;
  }

  #begin(key: string): Promise<T> {
    const now = this.#look(key);
    const under: Look<T> = { over: Promise.allSettled([now, sleep(LOOK_APART_MS)]), next: undefined };
    this.#under.set(key, under);
    void under.over.then(() => {
      if (under.next === undefined && this.#under.get(key) === under) this.#under.delete(key);
    });
    return now;
  }
}

/** @throws AppError `NOT_AVAILABLE_YET` in a family that cannot act yet */
function nextOf(
  { sequences }: ChainClient,
  { networkType, address }: Relayer,
  identity: string | undefined,
): Promise<bigint> {
  if (sequences !== undefined) return sequences.next(address, identity);
  throw new AppError('NOT_AVAILABLE_YET', { what: 'The sequence', networkType });
}

/**
 * The longest wait for the chain. A caller that asks for a relayer's state should get the known part rather than wait.
 */
const ASK_MS = 5_000;

/** A value from the chain; null, with the reason, when the chain gives none. */
type ChainValue = { value: bigint; reason?: never } | { value: null; reason: string };

/** @throws errors that are not the endpoints' fault, such as that the family has no such value */
async function askChain(access: RelayerAccess, ask: (client: ChainClient) => Promise<bigint>): Promise<ChainValue> {
  const answer = async () => ({ value: await ask(access.client()) });
  try {
    const late = { value: null, reason: `no endpoint has answered within ${ASK_MS / 1000} s` };
    return (await withTimeout(ASK_MS, answer())) ?? late;
  } catch (error) {
    if (error instanceof AppError && error.code === 'PROVIDER_FAILED') return { value: null, reason: error.message };
    throw error;
  }
}

function shown({ value }: ChainValue): string | null {
  return value?.toString() ?? null;
}

/** Returns the reason for each value that is null, by its key; empty when all values are known. */
function unavailable(values: Readonly<Record<string, ChainValue>>): { unavailable?: Record<string, string> } {
  const reasons = Object.entries(values).flatMap(([key, { reason }]) => (reason === undefined ? [] : [[key, reason]]));
  return reasons.length === 0 ? {} : { unavailable: Object.fromEntries(reasons) };
}

export interface RelayerDeleteDeps {
  store: Store;
  relayers: RelayerDirectory;
  engine: Pick<Engine, 'recheck'>;
}

/**
 * Deletes a relayer. It must have no transaction under way, because a transaction can drop out of its block and would
 * have to be sent again. Ended transactions are kept as long as any others.
 */
export function createRelayerDelete({
  store,
  relayers,
  engine,
}: RelayerDeleteDeps): (relayerId: string, by: Caller) => Promise<void> {
  return async (relayerId, by) => {
    await changeSettingsOnce(store, by, async (writer) => {
      const relayer = await writer.relayer(relayerId);
      if (relayer === undefined) throw new AppError('RELAYER_NOT_FOUND', { id: relayerId });
      const open = (await writer.openCounts()).filter((counted) => counted.relayerId === relayerId);
      const count = open.reduce((sum, counted) => sum + counted.count, 0);
      if (count > 0) throw new AppError('RELAYER_BUSY', { id: relayerId, count: String(count) });
      await writer.deleteRelayer(relayerId);
      const views = { before: relayers.viewOf(relayer), after: null };
      return { outcome: null, audit: relayerAudit('delete', relayerId, views) };
    });
    // The recheck shows watchers that the relayer is gone.
    engine.recheck(relayerId);
  };
}

/** How many relayers are compared with a misspelt one. */
const MAX_NEAR = 200;

/** Ids of relayers, for a hint at a misspelt one. There may be more. */
export async function someRelayerIds(relayers: Pick<RelayersService, 'list'>, among?: readonly string[]) {
  const { items } = await relayers.list({ page: 1, perPage: MAX_NEAR }, among && { among });
  return items.flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
}

/** Adds to an unknown relayer's error the one that was probably meant, of those that the caller sees. */
export async function withNearRelayer<E>(error: E, relayers: Pick<RelayersService, 'list'>, access: Access) {
  if (!(error instanceof AppError) || error.code !== 'RELAYER_NOT_FOUND') return error;
  const { id } = error.details as { id: string };
  const ids = await someRelayerIds(relayers, access.idsOf('relayers')).catch(() => []);
  const hint = didYouMean(id, ids);
  return hint === undefined ? error : new AppError('RELAYER_NOT_FOUND', { id }, { cause: error, hint });
}
