import t from 'tap';
import { eventNameSchema, webhookEndSchema } from '../../../../src/domain/webhook-event.ts';

t.test('events have the names of the reference and one of our own, and end in one of three ways', (t) => {
  t.strictSame(eventNameSchema.options, [
    'transaction_update',
    'relayer_state_update',
    'relayer_balance_low',
    'sign_transaction',
    'sign_and_send_transaction',
    'transfer_transaction',
    'solana_dex',
  ]);
  t.strictSame(webhookEndSchema.options, ['delivered', 'dead', 'dropped']);
  t.notOk(webhookEndSchema.safeParse('waiting').success, 'what waits has not ended');
  t.end();
});
