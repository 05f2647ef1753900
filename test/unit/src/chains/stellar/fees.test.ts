import t from 'tap';
import { bidFor } from '../../../../../src/chains/stellar/fees.ts';

t.test('what is bid follows what others pay, from the base fee up to the cap', (t) => {
  t.equal(bidFor(1, 100n, 1_000n), 100n);
  t.equal(bidFor(3, 0n, 1_000n), 300n, 'no less than the network asks');
  t.equal(bidFor(3, 250n, 1_000n), 750n);
  t.equal(bidFor(3, 2n ** 62n, 1_000n), 1_000n, 'whatever a node tells');
  t.end();
});
