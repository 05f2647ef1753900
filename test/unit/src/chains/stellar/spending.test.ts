import { Asset, Operation } from '@stellar/stellar-sdk';
import t from 'tap';
import { chainSpending } from '../../../../../src/chains/stellar/spending.ts';
import { CLIENT, envelopeText, OTHER, payOp } from '../../../../support/stellar-envelopes.ts';
import { fieldsOf, lumens, RELAYER, storedStellar } from '../../../../support/stellar-relayer.ts';

const { spendOf, spentBy, recipient, selector } = chainSpending;
const TO = OTHER.publicKey();
const CONTRACT = 'CDLZFC3SYJYDZT7K67VZ75HPJVIEUVNIXF47ZG2FB2RMQQVU2HHGCYSC';
const own = (...operations: Parameters<typeof envelopeText>[1]) => ({
  transaction: envelopeText(RELAYER, operations, { signers: [] }),
});

t.test('who is paid, by what, and how much of anything', (t) => {
  const payment = { recipient: TO, selector: 'payment', value: 12n, fee: null, beyond: null };
  t.strictSame(spendOf({ operations: [lumens(5, TO), lumens(7, TO)] }), payment);
  t.strictSame(spendOf(own(payOp('0.0000005'), payOp('0.0000007'))), payment);
  const asset = new Asset('USD', CLIENT.publicKey());
  const paths = { destination: TO, destAsset: Asset.native() };
  t.match(spendOf(own(Operation.createAccount({ destination: TO, startingBalance: '1' }))), {
    recipient: TO,
    selector: 'createAccount',
    value: 10_000_000n,
  });
  t.match(
    spendOf(own(Operation.pathPaymentStrictSend({ sendAsset: asset, sendAmount: '1', destMin: '1', ...paths }))),
    { recipient: TO, selector: 'pathPaymentStrictSend', value: 10_000_000n },
  );
  t.match(
    spendOf(own(Operation.pathPaymentStrictReceive({ sendAsset: asset, sendMax: '2', destAmount: '1', ...paths }))),
    { recipient: TO, selector: 'pathPaymentStrictReceive', value: 20_000_000n },
  );
  t.match(spendOf(own(Operation.manageData({ name: 'a', value: 'b' }))), {
    recipient: null,
    selector: null,
    value: 0n,
  });
  t.match(spendOf({ operations: [lumens(5, TO), lumens(5)] }), {
    beyond: `another operation, payment to ${RELAYER.publicKey()}`,
  });
  t.match(spendOf(own(payOp('1'), Operation.bumpSequence({ bumpTo: '5' }))), {
    beyond: 'another operation, bumpSequence',
  });
  t.end();
});

t.test('a call is told by its contract and function, and may move all there is', (t) => {
  const call = Operation.invokeContractFunction({ contract: CONTRACT, function: 'transfer', args: [] });
  t.match(spendOf(own(call)), { recipient: CONTRACT, selector: 'transfer()', value: 2n ** 63n });
  const upload = Operation.uploadContractWasm({ wasm: Buffer.alloc(4) });
  t.match(spendOf(own(upload)), { recipient: null, selector: null, value: 0n });
  t.end();
});

t.test('of what is a client’s only the fee is paid', (t) => {
  const inner = envelopeText(CLIENT, [payOp('1')]);
  t.strictSame(spendOf({ inner, max_fee: 500 }), {
    recipient: CLIENT.publicKey(),
    selector: 'feeBump',
    value: 0n,
    fee: 500n,
    beyond: null,
  });
  const acting = envelopeText(CLIENT, [payOp('1'), payOp('0.0000007', RELAYER)]);
  t.match(spendOf({ inner: acting, max_fee: 500, own: RELAYER.publicKey() }), {
    value: 7n,
    beyond: `an operation of the relayer's own account, payment to ${TO}`,
  });
  t.end();
});

t.test('what ended took what its ledger tells', (t) => {
  const took = (receipt?: object) =>
    spentBy(storedStellar({ fields: fieldsOf({ ...(receipt && { receipt: receipt as never }) }) }));
  t.strictSame(took({ ledger: 5, succeeded: true, fee: 90 }), { value: 5n, fee: 90n });
  t.strictSame(took({ ledger: 5, succeeded: false, fee: 90 }), { value: 0n, fee: 90n });
  t.strictSame(took({ ledger: 5, succeeded: true }), { value: 5n, fee: 100n }, 'or what was bid');
  t.strictSame(took(), { value: 0n, fee: 0n }, 'in no ledger');
  t.strictSame(spentBy(storedStellar()), { value: 0n, fee: 0n });
  t.end();
});

t.test('operators name accounts, contracts, kinds and functions', (t) => {
  t.equal(recipient.read(TO), TO);
  t.equal(recipient.read(CONTRACT), CONTRACT);
  for (const fault of ['', 'alice', TO.toLowerCase(), `${TO}A`]) t.equal(recipient.read(fault), undefined, fault);
  for (const name of ['payment', 'feeBump', 'transfer()']) t.equal(selector.read(name), name);
  for (const fault of ['', 'transfer(', 'a b', 'a'.repeat(33)]) t.equal(selector.read(fault), undefined, fault);
  t.end();
});
