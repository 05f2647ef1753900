import t, { type Test } from 'tap';
import { nextSequence } from '../../../../../src/chains/stellar/sequence.ts';
import { newAccount } from '../../../../doubles/stellar/ledger/account.ts';
import { keyToXdr } from '../../../../doubles/stellar/ledger/entry-key.ts';
import { toEntryData } from '../../../../doubles/stellar/ledger/entry-xdr.ts';
import { openRpc } from '../../../../support/evm.ts';
import { type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';

const ADDRESS = 'GDLVVGABQKYQVN6VJP7NHSLEA45A5YLS6PNKMIZFV4BBU2HXA5IRVHUR';

/** A node that reports this sequence for the account. Null: it does not know the account. */
function knowing(sequence: bigint | null): DoubleHandler {
  const entry = { ...newAccount(ADDRESS, 1n, 1), sequence: sequence ?? 0n };
  const found = { key: keyToXdr(entry).toXdr('base64'), xdr: toEntryData(entry).toXdr('base64') };
  return () => ({ result: { latestLedger: 5, entries: sequence === null ? [] : [found] } });
}

async function nodes(t: Test, ...sequences: (bigint | null)[]) {
  const doubles = await Promise.all(sequences.map((sequence) => startRpcDouble(knowing(sequence))));
  const rpc = openRpc(doubles.map(({ url }) => url));
  t.teardown(async () => {
    await rpc.close();
    await Promise.all(doubles.map((double) => double.stop()));
  });
  return { rpc, doubles };
}

t.test('the next is the one after the last that is used', async (t) => {
  const { rpc } = await nodes(t, 41n);
  t.equal(await nextSequence(rpc, ADDRESS, undefined), 42n);
  t.equal(await nextSequence(rpc, ADDRESS, null), 42n);
  t.equal(await nextSequence(rpc, ADDRESS, 50n), 42n, 'nobody else can be asked');
});

t.test('a node that tells less than expected is not believed alone', async (t) => {
  const { rpc, doubles } = await nodes(t, 41n, 43n);
  t.equal(await nextSequence(rpc, ADDRESS, 42n), 42n);
  const [, second] = doubles;
  const before = second?.calls.length;
  t.equal(await nextSequence(rpc, ADDRESS, 44n), 44n);
  t.equal(await nextSequence(rpc, ADDRESS, null), 44n, 'nothing is known: the other one is behind');
  t.ok((second?.calls.length ?? 0) > (before ?? 0));
});

t.test('an account that no node knows has no sequence', async (t) => {
  const { rpc } = await nodes(t, null);
  await t.rejects(nextSequence(rpc, ADDRESS, undefined), { message: /account GDLV.* does not exist/ });
  const both = await nodes(t, null, 7n);
  t.equal(await nextSequence(both.rpc, ADDRESS, undefined), 8n, 'one node is behind');
});
