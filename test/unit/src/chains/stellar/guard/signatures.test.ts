import { createHash } from 'node:crypto';
import { Keypair, Operation, SignerKey, StrKey, Transaction, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { invalidSignature, signatureWeightFault } from '../../../../../../src/chains/stellar/guard/signatures.ts';
import { readEnvelope } from '../../../../../../src/chains/stellar/message/transaction-envelope.ts';
import type { SigningAuthority } from '../../../../../../src/chains/stellar/rpc-calls.ts';
import { CLIENT, type EnvelopeHow, envelopeText, OTHER, payOp } from '../../../../../support/stellar-envelopes.ts';
import { PASSPHRASE } from '../../../../../support/stellar-relayer.ts';

t.test('weights', async (t) => {
  type Signers = readonly [key: string, weight: number][];

  /** Signers under thresholds of 1, 2 and 3. */
  const authority = (signers: Signers): SigningAuthority => ({
    signers: signers.map(([key, weight]) => ({ key: SignerKey.decodeAddress(key), weight })),
    thresholds: { low: 1, medium: 2, high: 3 },
  });

  const own = CLIENT.publicKey();
  const cosigner = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 29));
  const lacking = (text: string, signers: Signers, others: readonly [string, SigningAuthority][] = []) =>
    signatureWeightFault(readEnvelope(text), PASSPHRASE, new Map([[own, authority(signers)], ...others]));

  t.test('what an operation needs is weighed together', async (t) => {
    const pays = (...signers: Keypair[]) => envelopeText(CLIENT, [payOp('1')], { signers });
    const both: Signers = [
      [own, 1],
      [cosigner.publicKey(), 1],
    ];
    t.equal(lacking(pays(CLIENT, cosigner), both), undefined);
    t.match(lacking(pays(CLIENT), both), new RegExp(`signatures of ${own} weigh 1, and 2 is needed`));
    t.match(lacking(pays(CLIENT, CLIENT), both), /weigh 1, and 2/, 'the same signature twice counts once');
    t.match(lacking(pays(OTHER), both), /weigh 0, and 1/);
    t.equal(lacking(pays(CLIENT), [[own, 2]]), undefined);
  });

  t.test('kinds of operations need more or less', async (t) => {
    const by = (operation: xdr.Operation) => envelopeText(CLIENT, [operation]);
    const merge = by(Operation.accountMerge({ destination: OTHER.publicKey() }));
    const bump = by(Operation.bumpSequence({ bumpTo: '9' }));
    t.match(lacking(merge, [[own, 2]]), /weigh 2, and 3/);
    t.match(lacking(by(Operation.setOptions({ masterWeight: 0 })), [[own, 2]]), /weigh 2, and 3/);
    t.equal(lacking(by(Operation.setOptions({ homeDomain: 'a' })), [[own, 2]]), undefined);
    t.equal(lacking(bump, [[own, 1]]), undefined);
    t.match(lacking(bump, [[own, 0]]), /weigh 0, and 1/);
  });

  t.test('each account that is acted for has signed; of one that is not there its own key is enough', async (t) => {
    const text = (...signers: Keypair[]) => envelopeText(CLIENT, [payOp('1', OTHER)], { signers });
    t.equal(lacking(text(CLIENT, OTHER), [[own, 1]]), undefined);
    t.match(lacking(text(CLIENT), [[own, 1]]), new RegExp(`signatures of ${OTHER.publicKey()} weigh 0`));
    const strict: [string, SigningAuthority] = [OTHER.publicKey(), authority([[OTHER.publicKey(), 1]])];
    t.match(lacking(text(CLIENT, OTHER), [[own, 1]], [strict]), /weigh 1, and 2/);
  });

  t.test('keys of other kinds count', async (t) => {
    const image = Buffer.from('a secret');
    const hashed = StrKey.encodeSha256Hash(createHash('sha256').update(image).digest());
    const bare = envelopeText(CLIENT, [payOp('1')], { signers: [] });
    const revealed = new Transaction(bare, PASSPHRASE);
    revealed.signHashX(image);
    t.equal(lacking(revealed.toXdr(), [[hashed, 2]]), undefined);
    t.match(lacking(bare, [[hashed, 2]]), /weigh 0/);
    t.equal(lacking(bare, [[StrKey.encodePreAuthTx(revealed.hash()), 2]]), undefined);
    const payload = Buffer.from('word');
    const signed = new Transaction(bare, PASSPHRASE);
    signed.signatures.push(new xdr.DecoratedSignature({ hint: Buffer.alloc(4), signature: cosigner.sign(payload) }));
    const key = new xdr.SignerKeyEd25519SignedPayload({ ed25519: cosigner.rawPublicKey(), payload });
    const named = SignerKey.encodeSignerKey(xdr.SignerKey.signerKeyTypeEd25519SignedPayload(key));
    t.equal(lacking(signed.toXdr(), [[named, 2]]), undefined);
  });
});

t.test('wrong signature', async (t) => {
  const wrong = (how: EnvelopeHow, ...operations: Parameters<typeof envelopeText>[1]) =>
    invalidSignature(readEnvelope(envelopeText(CLIENT, operations, how)), PASSPHRASE);

  t.test('a signature shows by which network it was made', (t) => {
    t.equal(wrong({}, payOp('1')), undefined);
    t.equal(wrong({ signers: [] }, payOp('1')), undefined);
    t.equal(wrong({ signers: [OTHER] }, payOp('1')), undefined, 'whose it is, is not known');
    t.match(wrong({ passphrase: 'Another' }, payOp('1')), new RegExp(`signature of ${CLIENT.publicKey()} is wrong`));
    const other = wrong({ signers: [OTHER], passphrase: 'Another' }, payOp('1', OTHER));
    t.match(other, new RegExp(`signature of ${OTHER.publicKey()} is wrong`));
    t.end();
  });
});
