import t from 'tap';
import { FULL_ACCESS } from '../../../../../src/domain/settings/access.ts';
import { deliverySchema, wholeDeliverySchema } from '../../../../../src/http/openapi/notification-operations.ts';
import { createDeliveriesService } from '../../../../../src/services/webhooks/deliveries.ts';
import { eventOf, notificationOf, storeFor } from '../../../../support/store.ts';

t.test('a delivery as it is answered has the described shape', async (t) => {
  const store = await storeFor(t);
  await store.write(async (writer) => {
    await writer.putNotification(notificationOf());
    await writer.insertEvent(eventOf({ id: 'e1' }));
  });
  const deliveries = createDeliveriesService({ store, wake: () => undefined });
  const [listed] = (await deliveries.list('hook-1', { before: null, limit: 1 }, {}, FULL_ACCESS)).items;
  t.strictSame(deliverySchema.parse(listed), listed);
  const whole = await deliveries.get('hook-1', 'e1', FULL_ACCESS);
  t.strictSame(wholeDeliverySchema.parse(whole), whole);
});
