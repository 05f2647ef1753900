import t from 'tap';
import { parkedForFunds, shortage } from '../../../../../../src/chains/stellar/price/funds.ts';

t.test('what the ledger, the policy and the lane keep is not there to spend', (t) => {
  const account = { balance: 100n, promised: 10n, sequence: 1n, reserves: 3n };
  const bill = { account, committed: 5n, cost: 45n, minBalance: 20n, baseReserve: 10n };
  t.equal(shortage(bill), undefined);
  t.equal(
    shortage({ ...bill, cost: 56n }),
    'Insufficient balance: Required: 56, Available: 100, Stays: 40, Under way: 5',
  );
  t.match(shortage({ ...bill, minBalance: 60n }), /Stays: 60/);
  t.match(shortage({ ...bill, baseReserve: 20n, committed: 0n }), /Stays: 70$/, 'the network’s reserve may rise');
  t.match(parkedForFunds('why'), { kind: 'parked', cause: 'balance', reason: 'why' });
  t.end();
});
