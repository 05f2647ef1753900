import t from 'tap';
import { z } from 'zod';
import { createChains } from '../../../../src/chains/registry.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import { AppError } from '../../../../src/domain/errors.ts';
import { apiKeyResource } from '../../../../src/features/api-keys/api-keys.ts';
import { FULL_ACCESS } from '../../../../src/features/api-keys/records/access.ts';
import { createAuditService } from '../../../../src/features/audit/audit.ts';
import { auditRecordSchema } from '../../../../src/features/audit/operations.ts';
import { networkResource, networkView } from '../../../../src/features/networks/networks.ts';
import { networkNotReached, relayerDisabled, relayerView } from '../../../../src/features/relayers/records/relayer.ts';
import { createDeliveriesService } from '../../../../src/features/webhooks/deliveries.ts';
import { deliverySchema, wholeDeliverySchema } from '../../../../src/features/webhooks/operations.ts';
import { failure, success, successPage } from '../../../../src/http/envelope.ts';
import { callEventView, transactionEventView } from '../../../../src/http/events/event-stream.ts';
import { envelopeSchema, failureSchema, pageOf } from '../../../../src/http/openapi/answers.ts';
import { relayerAnswers } from '../../../../src/http/openapi/relayer-answers.ts';
import { describedOperations } from '../../../../src/http/operation-table.ts';
import { pluginCallEventSchema, transactionEventSchema } from '../../../../src/http/routes/events.ts';
import { describedBodies } from '../../../support/described.ts';
import { eventOf, notificationOf, relayerOf, storeFor } from '../../../support/store.ts';

t.test('the envelopes are those that the server makes', (t) => {
  const page = { page: 1, perPage: 10 };
  t.same(envelopeSchema(z.string()).parse(success('x')), success('x'));
  const list = successPage({ items: ['x'], total: 1 }, page);
  t.same(pageOf(z.string()).parse(list), list);
  for (const error of [
    new AppError('UNAUTHORIZED', {}),
    networkNotReached('sepolia'),
    relayerDisabled({ type: 'Multiple', details: [{ type: 'A', details: 'a' }], nextCheckAt: 1 }),
    new AppError('TOO_MANY_REQUESTS', {}, { retryAfterSeconds: 2 }),
  ]) {
    t.same(failureSchema.parse(failure(error)), failure(error));
  }
  t.end();
});

t.test('only the answer that makes a key has it', (t) => {
  const key = {
    id: 'k',
    name: 'n',
    allowed_origins: ['*'],
    created_at: '2026-01-01T00:00:00.000+00:00',
    permissions: ['*'],
    rate_limit: null,
    expires_at: null,
  };
  t.ok(apiKeyResource.schema.safeParse(key).success);
  t.notOk(apiKeyResource.schema.safeParse({ ...key, key: 'iso_x' }).success);
  const made = describedOperations(describedBodies())['POST /api/v1/api-keys']?.answer.schema;
  t.ok(made?.safeParse({ success: true, error: null, data: { ...key, key: 'iso_x' } }).success);
  t.end();
});

t.test('a record as it is answered has the described shape', async (t) => {
  const store = await storeFor(t);
  const change = { action: 'create', resource: 'notification', resourceId: 'n1', before: null } as const;
  await store.write((writer) =>
    writer.insertAuditRecord({ ...change, after: { id: 'n1' }, keyId: 'k', requestId: 'q', secrets: ['signing_key'] }),
  );
  const [record] = (await createAuditService(store.read).list({ before: null, limit: 1 }, {})).items;
  t.strictSame(auditRecordSchema.parse(record), record);
});

t.test('a refused request of a batch has its shape', (t) => {
  const operation = describedOperations(describedBodies())['POST /api/v1/transactions/batch'];
  const refused = {
    status: 400,
    success: false,
    data: null,
    error: 'a',
    message: 'b',
    code: 'INVALID_REQUEST',
    retryable: false,
  };
  const parsed = operation?.answer.schema.safeParse({ success: true, data: [refused], error: null });
  t.ok(parsed?.success);
  t.end();
});

t.test('events have the described shapes', (t) => {
  const about = { transactionId: 't', relayerId: 'r', status: 'sent', statusReason: null, hash: '0x1' } as const;
  const ofTransaction = transactionEventView({ written: 0, position: 1, at: 0, ...about });
  t.strictSame(transactionEventSchema.strict().parse(ofTransaction), ofTransaction);
  const lines = [{ level: 'uncaught' as const, message: 'no' }];
  const call = { pluginId: 'p', requestId: 'q', keyId: 'k', at: 0, outcome: 'threw', durationMs: 3, lines };
  const ofCall = callEventView(call);
  t.strictSame(pluginCallEventSchema.parse(ofCall), ofCall);
  t.end();
});

t.test('network operations', async (t) => {
  const chains = createChains(systemClock);

  t.test('a network as it is answered has the described shape, whatever its family', (t) => {
    for (const { type, networkSchema: settingsSchema } of chains.values()) {
      const settings = settingsSchema.parse({ tags: ['x'], is_testnet: true });
      const view = networkView({
        type,
        name: 'n',
        rpcUrls: [{ url: 'https://x.example', weight: 1 }],
        settings,
        source: 'file',
      });
      t.strictSame(networkResource.schema.parse(view), view);
    }
    t.end();
  });
});

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

t.test('relayer answers', async (t) => {
  const answers = relayerAnswers([...createChains(systemClock).values()]);

  t.test('a relayer, whatever is set', (t) => {
    const details = 'why';
    for (const relayer of [
      relayerOf(),
      relayerOf({
        notificationId: 'n',
        customRpcUrls: [{ url: 'https://node.test/key', weight: 3 }],
        disabledReason: { type: 'Multiple', details: [{ type: 'NonceSyncFailed', details }] },
      }),
      relayerOf({ disabledReason: { type: 'BalanceCheckFailed', details } }),
    ]) {
      const view = relayerView(relayer, { min_balance: 1 });
      t.strictSame(answers.relayer.parse(view), view);
    }
    t.end();
  });

  t.test('each family adds its unit, its sequence and what disables its relayers', (t) => {
    for (const unit of ['wei', 'lamport', 'stroop'])
      t.ok(answers.balance.safeParse({ balance: 1, unit }).success, unit);
    t.notOk(answers.balance.safeParse({ balance: 1, unit: 'penny' }).success);
    const status = {
      network_type: 'evm',
      balance: '1',
      pending_transactions_count: 0,
      last_confirmed_transaction_timestamp: null,
      system_disabled: false,
      paused: false,
      nonce: null,
      sequence_number: '7',
    };
    t.strictSame(answers.status.parse(status), status);
    const disabled = (type: string) => relayerView(relayerOf({ disabledReason: { type, details: 'why' } }), undefined);
    for (const type of ['NonceSyncFailed', 'SequenceSyncFailed', 'RpcValidationFailed']) {
      t.ok(answers.relayer.safeParse(disabled(type)).success, type);
    }
    t.notOk(answers.relayer.safeParse(disabled('MoonPhaseFailed')).success);
    t.end();
  });
});
