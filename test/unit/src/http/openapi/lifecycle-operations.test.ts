import t from 'tap';
import type { ErrorCode } from '../../../../../src/domain/errors.ts';
import { lifecycleOperations, timelineSchema } from '../../../../../src/http/openapi/lifecycle-operations.ts';
import { timelineOf } from '../../../../../src/services/timeline.ts';
import { describedBodies } from '../../../../support/described.ts';
import { attemptOf, transactionOf } from '../../../../support/store.ts';

const all = lifecycleOperations(describedBodies());

t.test('what changes a transaction is gated, what reads is not', (t) => {
  for (const [route, { errors }] of Object.entries(all)) {
    const gates: readonly ErrorCode[] = ['RELAYER_PAUSED', 'RELAYER_DISABLED'];
    t.equal(
      gates.every((code) => errors.includes(code)),
      !route.startsWith('GET '),
      route,
    );
  }
  t.end();
});

t.test('the body of a replacement is that of a send', (t) => {
  const { body } = all['PUT /api/v1/relayers/:id/transactions/:transactionId'] ?? {};
  t.ok(body?.required);
  t.ok(body?.schema.safeParse(body.example).success);
  t.end();
});

t.test('a timeline is as it is described', (t) => {
  const transaction = transactionOf({ status: 'failed', statusReason: 'why' });
  const acceptedAt = transaction.createdAt + 1;
  const timeline = timelineOf(
    {
      transaction,
      attempts: [attemptOf(transaction, { acceptedAt }), attemptOf(transaction, { ordinal: 2, purpose: 'bump' })],
      decisions: [{ at: acceptedAt, kind: 'gap-filled', text: 'why' }],
      intents: [
        { kind: 'cancel', createdAt: acceptedAt, settledAt: null, refusal: null },
        { kind: 'replace', createdAt: acceptedAt, settledAt: acceptedAt, refusal: 'no' },
      ],
      endedAt: acceptedAt,
    },
    { transactionView: () => ({}), attemptView: () => ({ gas_limit: 1 }), inclusionView: () => ({ block_number: 1 }) },
  );
  t.same(timelineSchema.parse(timeline), timeline);
  t.equal((timeline['events'] as unknown[]).length, 9);
  t.end();
});
