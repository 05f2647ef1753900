import t from 'tap';
import { priceOf } from '../../../../src/client/attempt-price.ts';

t.test('gas has a price', (t) => {
  t.equal(priceOf({ max_fee_per_gas: '2500000000', gas_price: null }), '2.50 gwei');
  t.equal(priceOf({ max_fee_per_gas: null, gas_price: '31234567890' }), '31.2 gwei');
  t.equal(priceOf({ max_fee_per_gas: null, gas_price: null }), '');
  t.equal(priceOf({}), '');
  t.equal(priceOf(undefined), '');
  t.end();
});

t.test('a fee is told in the unit of its family', (t) => {
  t.equal(priceOf({ last_valid_block_height: 9, nonce_account: null, fee: 5_000n }), '5000 lamports');
  t.equal(priceOf({ sequence_number: '8', max_time: 1_000, fee: 100 }), '100 stroops');
  t.end();
});
