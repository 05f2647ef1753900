import t from 'tap';
import {
  canBecome,
  endsWait,
  FINAL_STATUSES,
  isFinal,
  noopEndSchema,
  transactionStatusSchema,
} from '../../../../../src/domain/transaction/transaction-state.ts';

const ALL = transactionStatusSchema.options;

t.test('the final statuses are those that nothing leaves', (t) => {
  t.same([...FINAL_STATUSES].sort(), ['canceled', 'confirmed', 'expired', 'failed']);
  for (const status of FINAL_STATUSES) {
    for (const other of ALL) t.notOk(canBecome(status, other), `${status} does not become ${other}`);
  }
  t.end();
});

t.test('every status can be reached from pending and can end', (t) => {
  const reached = new Set<string>(['pending']);
  for (let size = 0; size < reached.size; ) {
    size = reached.size;
    for (const from of ALL.filter((status) => reached.has(status))) {
      for (const to of ALL) if (canBecome(from, to)) reached.add(to);
    }
  }
  t.same([...reached].sort(), [...ALL].sort());
  for (const status of ALL.filter((status) => !isFinal(status))) {
    t.ok(
      FINAL_STATUSES.some((end) => canBecome(status, end)),
      `${status} can end`,
    );
  }
  t.end();
});

t.test(
  'a reorganisation takes mined back to submitted, death what is signed to pending; nothing else goes back',
  (t) => {
    t.ok(canBecome('mined', 'submitted'));
    for (const status of ['sent', 'submitted'] as const) t.ok(canBecome(status, 'pending'), status);
    t.notOk(canBecome('submitted', 'sent'));
    t.notOk(canBecome('mined', 'sent'));
    t.end();
  },
);

t.test('a mined transaction cannot become pending; its version that does nothing may be what was mined', (t) => {
  t.notOk(canBecome('mined', 'pending'));
  for (const end of noopEndSchema.options) t.ok(canBecome('mined', end), end);
  t.notOk(canBecome('pending', 'mined'), 'what was never signed cannot be mined');
  t.end();
});

t.test('a wait ends on mined and on every final status', (t) => {
  t.same(ALL.filter(endsWait).sort(), ['canceled', 'confirmed', 'expired', 'failed', 'mined']);
  t.end();
});
