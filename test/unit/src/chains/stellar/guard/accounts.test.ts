import { Operation, type xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { accountLossFault, relayerAccountFault } from '../../../../../../src/chains/stellar/guard/accounts.ts';
import { readEnvelope } from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';
import { CLIENT, envelopeText, OTHER, payOp } from '../../../../../support/stellar-envelopes.ts';
import { RELAYER } from '../../../../../support/stellar-relayer.ts';

const ADDRESS = RELAYER.publicKey();
const of = (source: typeof CLIENT, ...operations: xdr.Operation[]) =>
  readEnvelope(envelopeText(source, operations)).transaction;
const merge = (source?: typeof CLIENT) =>
  Operation.accountMerge({ destination: OTHER.publicKey(), ...(source && { source: source.publicKey() }) });

t.test('where an envelope acts on the relayer’s account', (t) => {
  t.equal(relayerAccountFault(of(CLIENT, payOp('1'), payOp('1', OTHER)), ADDRESS), undefined);
  t.match(relayerAccountFault(of(CLIENT, payOp('1'), payOp('1', RELAYER)), ADDRESS), /^operations\.1: it acts on/);
  t.end();
});

t.test('where it takes that account away', (t) => {
  t.match(accountLossFault(of(RELAYER, payOp('1'), merge()), ADDRESS), /^operations\.1: /);
  t.match(accountLossFault(of(CLIENT, merge(RELAYER)), ADDRESS), /^operations\.0: /);
  t.equal(accountLossFault(of(CLIENT, merge()), ADDRESS), undefined);
  t.equal(accountLossFault(of(RELAYER, merge(OTHER)), ADDRESS), undefined);
  const signer = { ed25519PublicKey: OTHER.publicKey(), weight: 1 };
  for (const power of [
    { signer },
    { masterWeight: 0 },
    { lowThreshold: 1 },
    { medThreshold: 1 },
    { highThreshold: 1 },
  ]) {
    t.match(
      accountLossFault(of(RELAYER, Operation.setOptions(power)), ADDRESS),
      /^operations\.0: the signers of the relayer's account/,
    );
    t.equal(accountLossFault(of(CLIENT, Operation.setOptions(power)), ADDRESS), undefined, 'of another account');
  }
  const leap = (bumpTo: bigint) =>
    accountLossFault(of(RELAYER, Operation.bumpSequence({ bumpTo: String(bumpTo) })), ADDRESS);
  t.match(leap(2n ** 63n - 1n), /^operations\.0: the sequence of/);
  t.equal(leap(2n ** 62n), undefined);
  t.equal(accountLossFault(of(RELAYER, Operation.setOptions({ homeDomain: 'a' })), ADDRESS), undefined);
  t.end();
});
