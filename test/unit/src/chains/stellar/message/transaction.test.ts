import { FeeBumpTransaction, Keypair, Networks, Transaction } from '@stellar/stellar-sdk';
import t from 'tap';
import { draftTransaction } from '../../../../../../src/chains/stellar/message/draft.ts';
import {
  buildFeeBump,
  buildTransaction,
  decorateSignature,
  encodeEnvelope,
  transactionHash,
} from '../../../../../../src/chains/stellar/message/transaction.ts';
import { readEnvelope } from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';

t.test('the public library reads what was built, and finds the signature good', async (t) => {
  const keys = Keypair.random();
  const operations = [
    { type: 'payment' as const, destination: keys.publicKey(), amount: 5, asset: { type: 'native' as const } },
  ];
  const draft = draftTransaction({ operations, memo: { type: 'text', value: 'hello' } }, keys.publicKey());
  const built = buildTransaction(draft, { fee: 200n, sequence: 7n, maxTime: 1_800_000_000n });
  const hash = transactionHash(built, Networks.TESTNET);
  const envelope = encodeEnvelope(built, [decorateSignature(keys.rawPublicKey(), keys.sign(hash))]);
  const read = new Transaction(envelope, Networks.TESTNET);
  t.equal(Buffer.from(read.hash()).toString('hex'), hash.toString('hex'));
  t.match(read, { source: keys.publicKey(), fee: '200', sequence: '7', timeBounds: { maxTime: '1800000000' } });
  t.ok(keys.verify(read.hash(), keys.sign(hash)));
  t.not(transactionHash(built, Networks.PUBLIC).toString('hex'), hash.toString('hex'), 'the network is part of it');

  const payer = Keypair.random();
  const bump = buildFeeBump(readEnvelope(envelope), payer.publicKey(), 4_000_000_000n);
  const bumpHash = transactionHash(bump, Networks.TESTNET);
  const bumped = new FeeBumpTransaction(encodeEnvelope(bump, []), Networks.TESTNET);
  t.equal(Buffer.from(bumped.hash()).toString('hex'), bumpHash.toString('hex'));
  t.match(bumped, { feeSource: payer.publicKey(), fee: '4000000000' }, 'the fee is exactly that');
  t.equal(bumped.innerTransaction.toXdr(), envelope, 'with the client’s signatures');
});
