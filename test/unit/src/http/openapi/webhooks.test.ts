import t from 'tap';
import { eventNameSchema } from '../../../../../src/domain/webhook-event.ts';
import { describeWebhooks, webhookEventSchema } from '../../../../../src/http/openapi/webhooks.ts';

t.test('every event is described, with the headers that its deliveries have', (t) => {
  const described = describeWebhooks({ $ref: '#/x' }) as Record<string, { post: { parameters: { name: string }[] } }>;
  t.strictSame(Object.keys(described), eventNameSchema.options);
  for (const { post } of Object.values(described)) {
    t.strictSame(
      post.parameters.map(({ name }) => name),
      ['X-Signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature'],
    );
  }
  t.end();
});

t.test('a body is one of its kind by its payload type', (t) => {
  const event = { id: 'e', event: 'transaction_update', timestamp: '2026-11-22T20:06:31.180+00:00' };
  t.ok(webhookEventSchema.safeParse({ ...event, payload: { payload_type: 'transaction', id: 't' } }).success);
  t.notOk(webhookEventSchema.safeParse({ ...event, payload: {} }).success);
  t.end();
});
