import { Keypair, Networks, Transaction } from '@stellar/stellar-sdk';
import t from 'tap';
import { memoOf, operationOf } from '../../../../../../src/chains/stellar/message/operation.ts';
import { envelopeOf, hashOf, transactionOf } from '../../../../../../src/chains/stellar/message/transaction.ts';

t.test('the public library reads what was built, and finds the signature good', async (t) => {
  const keys = Keypair.random();
  const built = transactionOf({
    ...{ source: keys.publicKey(), fee: 200n, sequence: 7n, maxTime: 1_800_000_000n },
    memo: memoOf({ type: 'text', value: 'hello' }),
    operations: [operationOf({ type: 'payment', destination: keys.publicKey(), amount: 5, asset: { type: 'native' } })],
  });
  const hash = hashOf(built, Networks.TESTNET);
  const envelope = envelopeOf(built, keys.rawPublicKey(), keys.sign(hash));
  const read = new Transaction(envelope, Networks.TESTNET);
  t.equal(Buffer.from(read.hash()).toString('hex'), hash.toString('hex'));
  t.match(read, { source: keys.publicKey(), fee: '200', sequence: '7', timeBounds: { maxTime: '1800000000' } });
  t.ok(keys.verify(read.hash(), keys.sign(hash)));
  t.not(hashOf(built, Networks.PUBLIC).toString('hex'), hash.toString('hex'), 'the network is part of it');
});
