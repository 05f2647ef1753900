import t from 'tap';
import { callEventView, transactionEventView } from '../../../../../src/http/events/event-stream.ts';
import { pluginCallEventSchema, transactionEventSchema } from '../../../../../src/http/openapi/event-operations.ts';

t.test('events have the described shapes', (t) => {
  const about = { transactionId: 't', relayerId: 'r', status: 'sent', statusReason: null, hash: '0x1' } as const;
  const ofTransaction = transactionEventView({ place: { written: 0, position: 1 }, at: 0, ...about });
  t.strictSame(transactionEventSchema.strict().parse(ofTransaction), ofTransaction);
  const lines = [{ level: 'uncaught' as const, message: 'no' }];
  const call = { pluginId: 'p', requestId: 'q', keyId: 'k', at: 0, outcome: 'threw', durationMs: 3, lines };
  const ofCall = callEventView(call);
  t.strictSame(pluginCallEventSchema.parse(ofCall), ofCall);
  t.end();
});
