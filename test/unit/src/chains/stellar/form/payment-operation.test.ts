import t from 'tap';
import { paymentSchema } from '../../../../../../src/chains/stellar/form/payment-operation.ts';

const ACCOUNT = 'GDLVVGABQKYQVN6VJP7NHSLEA45A5YLS6PNKMIZFV4BBU2HXA5IRVHUR';
const payment = { type: 'payment', destination: ACCOUNT, amount: 1, asset: { type: 'native' } };

t.test('a payment says whom, what and how much', async (t) => {
  t.ok(paymentSchema.safeParse(payment).success);
  t.ok(paymentSchema.safeParse({ ...payment, amount: '9223372036854775807' }).success);
  t.ok(paymentSchema.safeParse({ ...payment, asset: { type: 'credit4', code: 'USD', issuer: ACCOUNT } }).success);
  t.ok(paymentSchema.safeParse({ ...payment, asset: { type: 'credit12', code: 'DOLLAR', issuer: ACCOUNT } }).success);
});

t.test('what the chain would refuse is refused', async (t) => {
  for (const fault of [
    { amount: 0 },
    { amount: -1 },
    { amount: '9223372036854775808' },
    { destination: 'GABC' },
    { asset: { type: 'credit4', code: 'DOLLAR', issuer: ACCOUNT } },
    { asset: { type: 'credit12', code: 'USD', issuer: ACCOUNT } },
    { asset: { type: 'credit4', code: 'USD', issuer: 'nobody' } },
    { source: ACCOUNT },
  ]) {
    t.notOk(paymentSchema.safeParse({ ...payment, ...fault }).success, JSON.stringify(fault));
  }
});
