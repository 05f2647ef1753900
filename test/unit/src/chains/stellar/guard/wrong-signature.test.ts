import t from 'tap';
import { wrongSignature } from '../../../../../../src/chains/stellar/guard/wrong-signature.ts';
import { readEnvelope } from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';
import { CLIENT, type EnvelopeHow, envelopeText, OTHER, payOp } from '../../../../../support/stellar-envelopes.ts';
import { PASSPHRASE } from '../../../../../support/stellar-relayer.ts';

const wrong = (how: EnvelopeHow, ...operations: Parameters<typeof envelopeText>[1]) =>
  wrongSignature(readEnvelope(envelopeText(CLIENT, operations, how)), PASSPHRASE);

t.test('a signature shows by which network it was made', (t) => {
  t.equal(wrong({}, payOp('1')), undefined);
  t.equal(wrong({ signers: [] }, payOp('1')), undefined);
  t.equal(wrong({ signers: [OTHER] }, payOp('1')), undefined, 'whose it is, is not known');
  t.match(wrong({ passphrase: 'Another' }, payOp('1')), new RegExp(`signature of ${CLIENT.publicKey()} is wrong`));
  const other = wrong({ signers: [OTHER], passphrase: 'Another' }, payOp('1', OTHER));
  t.match(other, new RegExp(`signature of ${OTHER.publicKey()} is wrong`));
  t.end();
});
