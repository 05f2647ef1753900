import { Account, Keypair, Operation, TransactionBuilder, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { isContradicted, isEvidenced, type ToldEnd } from '../../../../../../src/chains/stellar/inclusion/evidence.ts';
import { PASSPHRASE, RELAYER } from '../../../../../support/stellar-relayer.ts';

const PAYER = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 3));
const Result = xdr.TransactionResultResult;
const resultOf = (result: xdr.TransactionResultResult) =>
  new xdr.TransactionResult({ feeCharged: 100n, result, ext: xdr.TransactionResultExt.v0() }).toXdr('base64');

const account = new Account(RELAYER.publicKey(), '7');
const inner = new TransactionBuilder(account, { fee: '100', networkPassphrase: PASSPHRASE })
  .addOperation(Operation.bumpSequence({ bumpTo: '0' }))
  .setTimeout(0)
  .build();
const bump = TransactionBuilder.buildFeeBumpTransaction(PAYER, '200', inner, PASSPHRASE);
const hashOf = (of: { hash(): Uint8Array }) => Buffer.from(of.hash()).toString('hex');

const landed = (over: Partial<ToldEnd> = {}): ToldEnd => ({
  succeeded: true,
  result: resultOf(Result.txSuccess([])),
  envelope: inner.toXdr(),
  ...over,
});

t.test('the envelope has the hash, and the result is of that kind', (t) => {
  t.ok(isEvidenced(landed(), hashOf(inner), PASSPHRASE));
  t.ok(isEvidenced(landed({ envelope: bump.toXdr() }), hashOf(bump), PASSPHRASE));
  t.ok(isEvidenced(landed({ envelope: bump.toXdr() }), hashOf(inner), PASSPHRASE), 'known by what is within');
  t.notOk(isEvidenced(landed(), hashOf(bump), PASSPHRASE));
  t.notOk(isEvidenced(landed(), hashOf(inner), 'another network'));
  for (const over of [{ envelope: undefined }, { envelope: 'AAAA' }, { result: undefined }, { result: 'AAAA' }]) {
    t.notOk(isEvidenced(landed(over), hashOf(inner), PASSPHRASE), JSON.stringify(over));
  }
  t.notOk(isEvidenced(landed({ succeeded: false }), hashOf(inner), PASSPHRASE));
  t.end();
});

t.test('words speak against each other only where they can be read', (t) => {
  t.notOk(isContradicted(landed()));
  t.ok(isContradicted(landed({ succeeded: false })));
  t.ok(isContradicted(landed({ result: resultOf(Result.txFailed([])) })));
  t.notOk(isContradicted(landed({ succeeded: false, result: resultOf(Result.txFailed([])) })));
  t.notOk(isContradicted(landed({ succeeded: false, result: 'of a newer protocol' })));
  t.notOk(isContradicted(landed({ result: undefined })));
  t.end();
});
