import type { Effect } from '../domain/idempotency.ts';
import { laneKey } from '../domain/lane.ts';
import type { Relayer } from '../domain/relayer.ts';
import { relayerView } from '../domain/relayer-view.ts';
import { wireTime } from '../domain/wire-time.ts';
import type { Reader } from '../store/store.ts';
import type { RelayerAccess, RelayerDirectory } from './relayer-access.ts';
import type { RelayersService } from './services.ts';

export interface RelayersDeps {
  read: Reader;
  relayers: RelayerDirectory;
  /** Changes a relayer and resolves with it as it is then. */
  update(relayerId: string, body: unknown, effect?: Effect): Promise<Relayer>;
}

/** What relayers there are, and how each one stands. Never gated by `paused` or `disabled`. */
export function createRelayersService({ read, relayers, update }: RelayersDeps): RelayersService {
  const identityOf = ({ networkType, network }: Relayer) => read.chainIdentity(networkType, network);
  const viewOf = (relayer: Relayer) => relayerView(relayer, relayers.chainOf(relayer).policyView(relayer.policies));

  /** What the lane counts next: the chain may not know yet what is signed. */
  async function counterOf(
    { relayer, chain, account, client }: RelayerAccess,
    identity: string | undefined,
  ): Promise<Record<string, string>> {
    if (chain.counter === null) return {};
    // In this order: one that is in a block meanwhile is counted there.
    const open =
      identity === undefined
        ? []
        : await read.openTransactions(laneKey(relayer.networkType, identity, account.address));
    const last = open.at(-1)?.transaction.sequence ?? null;
    const counted = await client().nextSequence(account.address, identity);
    const next = last === null || last < counted ? counted : last + 1n;
    return { [chain.counter.statusKey]: next.toString() };
  }

  return {
    async get(relayerId) {
      const { relayer } = await relayers.find(relayerId);
      return viewOf(relayer);
    },

    async list(page) {
      const { items, total } = await read.relayers(page);
      return { items: items.map(viewOf), total };
    },

    async update(relayerId, body, effect) {
      return viewOf(await update(relayerId, body, effect));
    },

    async status(relayerId) {
      const access = await relayers.find(relayerId);
      const { relayer, account } = access;
      const identity = await identityOf(relayer);
      const [balance, pending, confirmedAt, counter] = await Promise.all([
        access.client().balance(account.address, { identity }),
        read.pendingCount(relayerId),
        read.lastConfirmedAt(relayerId),
        counterOf(access, identity),
      ]);
      return {
        network_type: relayer.networkType,
        balance: balance.toString(),
        pending_transactions_count: pending,
        last_confirmed_transaction_timestamp: confirmedAt === null ? null : wireTime(confirmedAt),
        system_disabled: relayer.disabledReason !== null,
        paused: relayer.paused,
        ...counter,
      };
    },

    async balance(relayerId) {
      const { relayer, chain, account, client } = await relayers.find(relayerId);
      const balance = await client().balance(account.address, { identity: await identityOf(relayer) });
      return { balance: balance.toString(), unit: chain.unit };
    },
  };
}
