import { AppError } from '../../domain/errors.ts';
import type { JsonObject, WireObject } from '../../domain/json/json.ts';
import type { ListPart, ListPartRequest } from '../../domain/page.ts';
import { wireTime } from '../../domain/wire-time.ts';
import type { Store, StoreReader } from '../../store/store.ts';
import type { Access } from '../api-keys/records/access.ts';
import type { Caller } from '../api-keys/records/caller.ts';
import { changeSettingsOnce } from '../resource.ts';
import {
  type DeliveryFilter,
  type ListedWebhookDelivery,
  transactionIdOfSubject,
  type WebhookEvent,
  webhookSubjectOf,
} from './records/webhook-event.ts';

/** The deliveries of webhook events. Deliveries for relayers that the caller may not see do not exist for it. */
export interface DeliveriesService {
  /** The latest first. 404 for an unknown notification. */
  list(
    notificationId: string,
    part: ListPartRequest,
    filter: Pick<DeliveryFilter, 'state'> & { transactionId?: string | undefined },
    access: Access,
  ): Promise<ListPart<WireObject>>;
  /** A delivery with its body. 404. */
  get(notificationId: string, id: string, access: Access): Promise<WireObject>;
  /**
   * Delivers an event again, whether or not its delivery has ended, to the current address and with the current keys.
   * 404.
   */
  redeliver(notificationId: string, id: string, by: Caller, access: Access): Promise<WireObject>;
}

export interface DeliveriesDeps {
  store: Pick<Store, 'read' | 'write'>;
  /** Wakes the delivery of webhooks: a delivery may be due. */
  wake(): void;
}

type DeliveryWithBody = ListedWebhookDelivery & Pick<WebhookEvent, 'body'>;

export function createDeliveriesService({ store, wake }: DeliveriesDeps): DeliveriesService {
  const find = async (
    read: StoreReader,
    notificationId: string,
    id: string,
    access: Access,
  ): Promise<DeliveryWithBody> => {
    await assertNotification(read, notificationId);
    const delivery = await read.delivery(notificationId, id);
    if (delivery === undefined || !isSeen(delivery, access)) throw new AppError('DELIVERY_NOT_FOUND', { id });
    return delivery;
  };

  return {
    async list(notificationId, part, { state, transactionId }, access) {
      await assertNotification(store.read, notificationId);
      const relayerIds = access.idsOf('relayers');
      const subject = transactionId === undefined ? undefined : webhookSubjectOf(transactionId);
      const { items, next } = await store.read.deliveries(notificationId, part, { state, subject, relayerIds });
      return { items: items.map(deliveryView), next };
    },

    async get(notificationId, id, access) {
      return wholeView(await find(store.read, notificationId, id, access));
    },

    async redeliver(notificationId, id, by, access) {
      const { made } = await changeSettingsOnce(store, by, async (writer) => {
        const before = deliveryView(await find(writer, notificationId, id, access));
        await writer.redeliver(notificationId, id);
        const redelivered = await find(writer, notificationId, id, access);
        const after = deliveryView(redelivered);
        const audit = { action: 'redeliver', resource: 'delivery', resourceId: id, before, after } as const;
        return { outcome: wholeView(redelivered), audit };
      });
      wake();
      return made.outcome as WireObject;
    },
  };
}

async function assertNotification(read: StoreReader, id: string): Promise<void> {
  if ((await read.notification(id)) === undefined) throw new AppError('NOTIFICATION_NOT_FOUND', { id });
}

/** A delivery without a recorded relayer is visible only to keys that see all relayers. */
function isSeen({ relayerId }: ListedWebhookDelivery, access: Access): boolean {
  return access.sees('relayers', relayerId ?? '*');
}

function deliveryView(delivery: ListedWebhookDelivery): JsonObject {
  return {
    id: delivery.id,
    notification_id: delivery.notificationId,
    relayer_id: delivery.relayerId,
    transaction_id: transactionIdOfSubject(delivery.subject),
    event: delivery.event,
    state: delivery.state,
    tries: delivery.tries,
    outcome: delivery.outcome,
    created_at: wireTime(delivery.createdAt),
    next_try_at: delivery.nextTryAt === null ? null : wireTime(delivery.nextTryAt),
    ended_at: delivery.endedAt === null ? null : wireTime(delivery.endedAt),
  };
}

function wholeView(delivery: DeliveryWithBody): JsonObject {
  return { ...deliveryView(delivery), body: delivery.body };
}
