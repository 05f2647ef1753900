import type { Chain } from '../../chains/chain.ts';
import type { WireObject } from '../../domain/json/json.ts';
import { writeJson } from '../../domain/json/json-text.ts';
import type { NetworkType } from '../../domain/network-type.ts';
import { wireTime } from '../../domain/wire-time.ts';
import type { PluginEntry } from '../../features/plugins/records/plugin.ts';
import { type DisabledReason, disabledText } from '../../features/relayers/records/disabled-reason.ts';
import { type Relayer, relayerView } from '../../features/relayers/records/relayer.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import { type WebhookEventName, webhookSubjectOf } from '../../features/webhooks/records/webhook-event.ts';
import type { Log } from '../../observability/log.ts';
import type { StoreWriter } from '../../store/store.ts';

export interface OutboxDeps {
  chains: ReadonlyMap<NetworkType, Chain>;
  /** A new id (`domain/id.ts`). */
  newId(): string;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Events may have been committed: a hint to deliver them. */
  onCommitted(): void;
  log: Log;
}

/** A balance that is low, in the smallest unit of its chain. */
export interface LowBalance {
  balance: bigint;
  /** Less than this is low. */
  threshold: bigint;
  /** Below this the relayer is disabled. */
  minBalance: bigint;
}

/** A trigger whose last calls all threw. */
export interface PausedTrigger {
  plugin: PluginEntry;
  name: string;
  lastCall: string | null;
  throws: number;
}

/**
 * Stores webhook events in the commit of the change that they tell of. Payloads have the reference's keys in its order.
 * The stored text is the one that is signed and sent.
 */
export class Outbox {
  readonly #deps: OutboxDeps;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
  }

  /** One event for each transaction whose relayer has a notification, in the order given. */
  async transactionsMoved(writer: StoreWriter, transactions: readonly Transaction[]): Promise<void> {
    const ids = [...new Set(transactions.map(({ relayerId }) => relayerId))];
    const relayers = await Promise.all(ids.map(async (id) => writer.relayer(id)));
    await Promise.all(
      transactions.map(async (transaction) => {
        const relayer = relayers[ids.indexOf(transaction.relayerId)];
        await this.#put(writer, relayer, 'transaction_update', webhookSubjectOf(transaction.id), (chain) => ({
          payload_type: 'transaction',
          ...chain.transactionView(transaction),
        }));
        await this.#swapMoved(writer, relayer, transaction);
      }),
    );
  }

  /** Stores a further event that tells a swap's outcome as such. */
  async #swapMoved(writer: StoreWriter, relayer: Relayer | undefined, transaction: Transaction): Promise<void> {
    const chain = this.#deps.chains.get(transaction.networkType);
    const swap = chain?.swapEvent?.(transaction);
    if (swap === undefined) return;
    await this.#put(writer, relayer, swap.event, webhookSubjectOf(transaction.id), () => swap.payload);
  }

  async relayerDisabled(writer: StoreWriter, relayer: Relayer, reason: DisabledReason): Promise<void> {
    await this.#put(writer, relayer, 'relayer_state_update', `relayer:${relayer.id}`, (chain) => ({
      payload_type: 'relayer_disabled',
      relayer: relayerView(relayer, chain.policyView(relayer.policies)),
      disable_reason: disabledText(reason),
    }));
  }

  /** @param retryCount how many repeated checks failed before the one that passed */
  async relayerEnabled(writer: StoreWriter, relayer: Relayer, retryCount: number): Promise<void> {
    await this.#put(writer, relayer, 'relayer_state_update', `relayer:${relayer.id}`, (chain) => ({
      payload_type: 'relayer_enabled',
      relayer: relayerView(relayer, chain.policyView(relayer.policies)),
      retry_count: retryCount,
    }));
  }

  /** The account's balance nears the least one that its policy allows. */
  async relayerBalanceLow(writer: StoreWriter, relayer: Relayer, seen: LowBalance): Promise<void> {
    await this.#put(writer, relayer, 'relayer_balance_low', `relayer:${relayer.id}`, (chain) => ({
      payload_type: 'relayer_balance_low',
      relayer: relayerView(relayer, chain.policyView(relayer.policies)),
      balance: seen.balance,
      threshold: seen.threshold,
      min_balance: seen.minBalance,
      unit: chain.unit,
    }));
  }

  /** A method that only the relayer's chain family has was called and has answered. */
  async answered(writer: StoreWriter, relayer: Relayer, event: WebhookEventName, answer: WireObject): Promise<void> {
    const { newId } = this.#deps;
    await this.#put(writer, relayer, event, `call:${newId()}`, ({ type }) => ({
      payload_type: `${type}_rpc`,
      ...answer,
    }));
  }

  /** A trigger does not fire any more. It is told where the events of a relayer are told that its plugin may use. */
  async triggerPaused(writer: StoreWriter, { plugin, name, lastCall, throws }: PausedTrigger): Promise<void> {
    const { newId, now } = this.#deps;
    const { id: pluginId, permissions } = plugin;
    const isUsable = ({ id }: Relayer) => permissions === undefined || Object.hasOwn(permissions.relayers, id);
    const notifications = (await writer.allRelayers()).filter(isUsable).map(({ notificationId }) => notificationId);
    for (const notificationId of new Set(notifications)) {
      if (notificationId === null) continue;
      const id = newId();
      const payload = {
        payload_type: 'plugin_trigger',
        plugin_id: pluginId,
        trigger: name,
        last_call: lastCall,
        throws,
      };
      const body = writeJson({ id, event: 'plugin_trigger_paused', payload, timestamp: wireTime(now()) });
      const subject = `trigger:${pluginId}/${name}`;
      await writer.insertEvent({
        ...{ id, notificationId, subject, relayerId: null, event: 'plugin_trigger_paused', body },
      });
    }
  }

  /** To be called after the commit. */
  committed(): void {
    this.#deps.onCommitted();
  }

  async #put(
    writer: StoreWriter,
    relayer: Relayer | undefined,
    event: WebhookEventName,
    subject: string,
    payloadOf: (chain: Chain, relayer: Relayer) => WireObject,
  ): Promise<void> {
    const chain = relayer && this.#deps.chains.get(relayer.networkType);
    if (relayer === undefined || chain === undefined || relayer.notificationId === null) return;
    const id = this.#deps.newId();
    let body: string;
    try {
      const timestamp = wireTime(this.#deps.now());
      body = writeJson({ id, event, payload: payloadOf(chain, relayer), timestamp });
    } catch (error) {
      // A payload that cannot be written must not keep the change itself from being committed.
      this.#deps.log.error({ err: error, relayer: relayer.id, subject }, 'a webhook event could not be created');
      return;
    }
    const { id: relayerId, notificationId } = relayer;
    await writer.insertEvent({ id, notificationId, subject, relayerId, event, body });
  }
}
