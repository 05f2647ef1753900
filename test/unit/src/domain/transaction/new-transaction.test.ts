import t from 'tap';
import { type Accepted, newTransaction } from '../../../../../src/domain/transaction/new-transaction.ts';

const accepted: Accepted = {
  id: 'one',
  relayerId: 'r1',
  networkType: 'evm',
  lane: 'evm:1:0xab',
  createdAt: 5,
  request: { to: 'x' },
  validUntil: 9,
  anchorKind: 'sequence',
  onDeath: 'renew',
  contentKey: 'key',
};

t.test('what was accepted waits, unsigned, and is due at once', async (t) => {
  t.match(newTransaction(accepted), {
    ...accepted,
    status: 'pending',
    statusReason: null,
    parentId: null,
    nextActionAt: 5,
    fields: {},
    sequence: null,
    hash: null,
    sentAt: null,
    confirmedAt: null,
    noopEnd: null,
  });
});

t.test('what else a request has is not kept, and who waits for it is', async (t) => {
  const made = newTransaction(
    Object.assign({ ...accepted, statusReason: 'why', parentId: 'two' }, { signedAs: '0x1' }),
  );
  t.notOk('signedAs' in made);
  t.match(made, { statusReason: 'why', parentId: 'two' });
});
