import t from 'tap';
import { callData, leastGas } from '../../../../../../src/chains/evm/price/gas.ts';

const TO = `0x${'a'.repeat(40)}`;
const plain = { to: TO, data: null, accessList: [], authorizationList: [] };
const authorization = { chain_id: 0, address: TO, nonce: 0, y_parity: 0, r: '0x1', s: '0x1' };

t.test('what each part costs', async (t) => {
  t.equal(leastGas(plain), 21_000n);
  t.equal(leastGas({ ...plain, to: null, data: '0x' }), 53_000n);
  t.equal(leastGas({ ...plain, to: null, data: '0x0001' }), 53_022n, 'EIP-3860: 2 for the one word');
  t.equal(leastGas({ ...plain, to: null, data: `0x${'00'.repeat(33)}` }), 53_000n + 33n * 4n + 4n);
  const accessList = [
    { address: TO, storage_keys: [] },
    { address: TO, storage_keys: ['0x', '0x'] },
  ];
  t.equal(leastGas({ ...plain, accessList }), 21_000n + 2n * 2_400n + 2n * 1_900n);
  t.equal(leastGas({ ...plain, authorizationList: [authorization, authorization] }), 71_000n);
});

t.test('much data costs its floor (EIP-7623), whatever it executes', async (t) => {
  t.equal(leastGas({ ...plain, data: '0x0001' }), 21_050n, 'one token and four, at 10 each');
  t.equal(leastGas({ ...plain, data: `0x${'ff'.repeat(1_000)}` }), 61_000n);
  t.equal(
    leastGas({ ...plain, data: '0x01', authorizationList: [authorization] }),
    46_016n,
    'the floor counts only when it is more',
  );
});

t.test('call data as bytes, with or without its 0x', async (t) => {
  t.same(callData('0xAB01'), Buffer.from([0xab, 1]));
  t.same(callData('ab'), Buffer.from([0xab]));
  t.equal(callData(null).length, 0);
});
