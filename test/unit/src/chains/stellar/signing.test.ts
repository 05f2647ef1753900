// The signed bytes are compared with those of the public client.
import { Keypair, type Transaction, TransactionBuilder } from '@stellar/stellar-sdk';
import t from 'tap';
import { signTransaction } from '../../../../../src/chains/stellar/signing.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';
import { createKeySigner } from '../../../../../src/signers/held-key.ts';
import { CLIENT, envelopeText, feeBumpIn, payOp } from '../../../../support/stellar-envelopes.ts';
import { fieldsOf, lumens, PASSPHRASE, RELAYER } from '../../../../support/stellar-relayer.ts';

const signer = createKeySigner('test', Buffer.alloc(32, 21));
const anchor = { kind: 'sequence', sequence: 2n ** 62n + 1n } as const;
const TO = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 5)).publicKey();

async function signed(request: JsonObject) {
  const { raw, hash, fields } = await signTransaction({ request }, fieldsOf(), anchor, signer);
  const read = TransactionBuilder.fromXdr(raw, PASSPHRASE) as Transaction;
  t.equal(Buffer.from(read.hash()).toString('hex'), hash, 'the chain knows it by this hash');
  const [signature] = read.signatures;
  t.ok(RELAYER.verify(read.hash(), signature?.signature.toBytes() ?? Buffer.alloc(64)));
  t.match(fields, { sequence: String(anchor.sequence) });
  return read;
}

t.test('a payment says what was asked, and no more', async (t) => {
  const read = await signed({ operations: [lumens('9007199254740993', TO)] });
  t.match(read, {
    source: RELAYER.publicKey(),
    sequence: String(anchor.sequence),
    fee: '100',
    timeBounds: { minTime: '0', maxTime: '1000' },
    signatures: { length: 1 },
    operations: [{ type: 'payment', destination: TO, amount: '900719925.4740993', source: undefined }],
  });
  t.equal(read.memo.type, 'none');
});

t.test('assets and memos of every form', async (t) => {
  const pays = (asset: object) => ({ ...lumens(1, TO), asset });
  const read = await signed({
    operations: [
      pays({ type: 'credit4', code: 'USD', issuer: TO }),
      pays({ type: 'credit12', code: 'LONGER', issuer: TO }),
    ] as unknown as JsonObject[],
    memo: { type: 'id', value: '18446744073709551615' },
  });
  t.match(read.operations, [{ asset: { code: 'USD', issuer: TO } }, { asset: { code: 'LONGER', issuer: TO } }]);
  t.equal(String(read.memo.value), '18446744073709551615');
  for (const [memo, type] of [
    [{ type: 'none' }, 'none'],
    [{ type: 'text', value: 'Tee für zwei' }, 'text'],
    [{ type: 'hash', value: 'ab'.repeat(32) }, 'hash'],
    [{ type: 'return', value: 'cd'.repeat(32) }, 'return'],
  ] as const) {
    t.equal((await signed({ operations: [lumens(1, TO)], memo })).memo.type, type);
  }
});

t.test('what takes a sequence and does nothing', async (t) => {
  const read = await signed({ operations: [{ type: 'bump_sequence', bump_to: 0 }] });
  t.match(read.operations, [{ type: 'bumpSequence', bumpTo: '0' }]);
});

t.test('an envelope of its own, under the sequence and the end that are given', async (t) => {
  const transaction = envelopeText(RELAYER, [payOp('1')], {
    signers: [],
    with: (builder) => builder.setLedgerbounds(3, 9),
  });
  const read = await signed({ transaction });
  t.match(read, {
    sequence: String(anchor.sequence),
    fee: '100',
    signatures: { length: 1 },
    timeBounds: { maxTime: '1000' },
    ledgerBounds: { minLedger: 3, maxLedger: 9 },
  });
});

t.test('a client’s envelope, in a fee bump with its signatures', async (t) => {
  const inner = envelopeText(CLIENT, [payOp('1')]);
  const text = { kind: 'text', text: `${CLIENT.publicKey()}:8` } as const;
  const request = { inner, max_fee: 500 };
  const within = { hash: 'ab', source: CLIENT.publicKey(), sequence: 8 };
  const { raw, hash, fields } = await signTransaction({ request }, fieldsOf({ fee: 500, inner: within }), text, signer);
  const read = feeBumpIn(raw);
  t.equal(Buffer.from(read.hash()).toString('hex'), hash);
  t.match(read, { feeSource: RELAYER.publicKey(), fee: '500', signatures: { length: 1 } });
  t.ok(RELAYER.verify(read.hash(), read.signatures[0]?.signature.toBytes() ?? Buffer.alloc(64)));
  t.equal(read.innerTransaction.toXdr(), inner);
  t.notOk('sequence' in fields, 'it has none of the relayer');
});

t.test('nothing is signed by another key, or without what it needs', async (t) => {
  const request = { operations: [lumens(1, TO)] };
  const stranger = createKeySigner('stranger', Buffer.alloc(32, 6));
  await t.rejects(signTransaction({ request }, fieldsOf(), anchor, stranger), { code: 'SIGNER_FAILED' });
  await t.rejects(signTransaction({ request }, {}, anchor, signer), TypeError);
  await t.rejects(signTransaction({ request }, fieldsOf(), { kind: 'none' }, signer), TypeError);
});
