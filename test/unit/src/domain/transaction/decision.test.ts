import t from 'tap';
import { decisionKindSchema } from '../../../../../src/domain/transaction/decision.ts';

t.test('stored kinds of decisions stay readable', (t) => {
  // Stored rows are read by every later version, so none of these may be removed.
  for (const kind of [
    'parked',
    'canceled',
    'replaced',
    'bumped',
    'expired',
    'noop-signed',
    'refused',
    'reorganised',
    'gap-filled',
  ]) {
    t.equal(decisionKindSchema.parse(kind), kind);
  }
  t.notOk(decisionKindSchema.safeParse('done').success);
  t.end();
});
