import type { Test } from 'tap';
import type { Store } from '../../../src/store/store.ts';
import { relayerOf } from '../store.ts';

/** Tests of balances for every store. */
export function relayerBalancesContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('a balance comes back with all its digits, is replaced, and goes with its relayer', async (t) => {
    const store = await open(t);
    await store.write((writer) => writer.putRelayer(relayerOf({ id: 'r1' })));
    t.equal(await store.read.relayerBalance('r1'), undefined);
    const seen = { relayerId: 'r1', balance: 2n ** 255n, isLow: true };
    await store.write((writer) => writer.putRelayerBalance(seen));
    t.strictSame(await store.read.relayerBalance('r1'), seen);
    await store.write((writer) => writer.putRelayerBalance({ ...seen, balance: 0n, isLow: false }));
    t.strictSame(await store.read.relayerBalances(), [{ relayerId: 'r1', balance: 0n, isLow: false }]);
    await store.write((writer) => writer.deleteRelayer('r1'));
    t.strictSame(await store.read.relayerBalances(), []);
  });
}
