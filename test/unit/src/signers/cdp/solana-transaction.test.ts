import { randomBytes } from 'node:crypto';
import { Keypair, PublicKey, SystemProgram, Transaction, VersionedTransaction } from '@solana/web3.js';
import t from 'tap';
import { signatureIn, unsignedTransaction } from '../../../../../src/signers/cdp/solana-transaction.ts';
import { solanaMessage } from '../../../../support/signers/signer-families.ts';

const account = Keypair.generate();
const own = account.publicKey.toBuffer();

t.test('a message of version 0, or of none, and the place of the account among those who sign it', (t) => {
  const versioned = unsignedTransaction(solanaMessage(own), own);
  t.equal(versioned.place, 0);
  const read = VersionedTransaction.deserialize(versioned.transaction);
  t.equal(read.version, 0);
  read.sign([account]);
  t.same(signatureIn(Buffer.from(read.serialize()), 0), Buffer.from(read.signatures[0] ?? []));

  const payer = Keypair.generate();
  const legacy = new Transaction({
    feePayer: payer.publicKey,
    recentBlockhash: new PublicKey(randomBytes(32)).toBase58(),
  });
  legacy.add(SystemProgram.transfer({ fromPubkey: account.publicKey, toPubkey: payer.publicKey, lamports: 1 }));
  const { transaction, place } = unsignedTransaction(legacy.serializeMessage(), own);
  t.equal(place, 1);
  const other = VersionedTransaction.deserialize(transaction);
  t.equal(other.version, 'legacy');
  other.sign([account]);
  t.same(signatureIn(Buffer.from(other.serialize()), 1), Buffer.from(other.signatures[1] ?? []));
  t.same(signatureIn(Buffer.from(other.serialize()), 2), Buffer.alloc(0));
  t.end();
});

t.test('what is no message, or of another version, or signed by others, is refused', (t) => {
  const nothing = { message: 'CDP signs transactions of Solana and texts, and no other bytes' };
  const text = Buffer.from('\xffsolana offchain', 'latin1');
  const one = solanaMessage(own);
  const next = Buffer.from(one);
  next[0] = 0x81;
  const nobody = Buffer.from(one);
  nobody[1] = 0;
  for (const bytes of [
    Buffer.alloc(0),
    text,
    next,
    nobody,
    one.subarray(0, 40),
    Buffer.from([1, 0, 0, 0xff, 0xff, 0xff]),
  ]) {
    t.throws(() => unsignedTransaction(bytes, own), nothing);
  }
  t.throws(() => unsignedTransaction(one, randomBytes(32)), {
    message: 'the transaction is not one that this account signs',
  });
  t.end();
});

t.test('counts above 127 take two bytes', (t) => {
  const keys = Buffer.concat([randomBytes(32 * 199), own]);
  const message = Buffer.concat([Buffer.from([0x80, 200, 0, 0, 0xc8, 0x01]), keys]);
  const { transaction, place } = unsignedTransaction(message, own);
  t.equal(place, 199);
  t.equal(transaction.length, 2 + 200 * 64 + message.length);
  transaction.fill(7, 2 + 199 * 64, 2 + 200 * 64);
  t.same(signatureIn(transaction, 199), Buffer.alloc(64, 7));
  t.end();
});
