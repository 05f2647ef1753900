import { id } from 'ethers';
import t from 'tap';
import { chainSpending } from '../../../../../src/chains/evm/spending.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';

const { spendOf, spentBy } = chainSpending;

const TO = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const request = (more: JsonObject = {}): JsonObject => ({
  to: TO,
  value: '0x5',
  data: null,
  gas_limit: null,
  gas_price: null,
  max_fee_per_gas: null,
  max_priority_fee_per_gas: null,
  speed: 'fast',
  ...more,
});

t.test('a request moves its value to its recipient, by a function or none', (t) => {
  t.strictSame(spendOf(request()), { recipient: TO.toLowerCase(), selector: '0x', value: 5n, fee: null, beyond: null });
  t.match(spendOf(request({ data: '0xA9059CBB0000' })), { selector: '0xa9059cbb' });
  t.match(spendOf(request({ data: 'a9059cbb' })), { selector: '0xa9059cbb' });
  t.match(spendOf(request({ data: '0xa905' })), { selector: '0xa905' }, 'too short for a function, and not none');
  t.match(spendOf(request({ to: null, data: '0xa9059cbb' })), { recipient: null, selector: null });
  t.end();
});

t.test('a method that moves tokens is named, whatever the case of its selector', (t) => {
  const methodOf = (data: string) => spendOf(request({ data: `${data}${'00'.repeat(64)}` })).tokenMethod;
  // The selectors as they stand in block explorers.
  for (const [selector, method] of [
    ['0xa9059cbb', 'transfer(address,uint256)'],
    ['0x095EA7B3', 'approve(address,uint256)'],
    ['0x23b872dd', 'transferFrom(address,address,uint256)'],
    ['0xd505accf', 'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)'],
    ['0x8fcbaf0c', 'permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)'],
    ['0x39509351', 'increaseAllowance(address,uint256)'],
    ['0x42966c68', 'burn(uint256)'],
    ['0x42842e0e', 'safeTransferFrom(address,address,uint256)'],
    ['0xb88d4fde', 'safeTransferFrom(address,address,uint256,bytes)'],
    ['0xf242432a', 'safeTransferFrom(address,address,uint256,uint256,bytes)'],
    ['0xa22cb465', 'setApprovalForAll(address,bool)'],
    ['0xe3ee160e', 'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)'],
    ['0x4000aea0', 'transferAndCall(address,uint256,bytes)'],
    ['0x87517c45', 'approve(address,address,uint160,uint48)'],
  ] as const) {
    t.equal(methodOf(selector), method);
  }
  t.equal(methodOf('0x70a08231'), undefined, 'balanceOf moves nothing');
  t.equal(spendOf(request({ to: null, data: '0xa9059cbb' })).tokenMethod, undefined);
  t.end();
});

t.test('a fee is known where gas and price are given', (t) => {
  const gas = { gas_limit: 21_000, speed: null };
  t.match(spendOf(request({ ...gas, gas_price: 3 })), { fee: 63_000n });
  t.match(spendOf(request({ ...gas, max_fee_per_gas: 4, max_priority_fee_per_gas: 1 })), { fee: 84_000n });
  t.match(spendOf(request({ gas_price: 3, speed: null })), { fee: null });
  t.match(spendOf(request({ gas_limit: 21_000 })), { fee: null });
  t.end();
});

t.test('an authorization list acts on others; an access list does not', (t) => {
  const access = [{ address: TO.toLowerCase(), storage_keys: [] }];
  t.match(spendOf(request({ access_list: access })), { beyond: null });
  const word = `0x${'11'.repeat(32)}`;
  const authorization = { chain_id: 1, address: TO.toLowerCase(), nonce: 0, y_parity: 0, r: word, s: word };
  t.match(spendOf(request({ authorization_list: [authorization] })), { beyond: /^an authorization_list/ });
  t.end();
});

t.test('what ended took what its receipt says', (t) => {
  const receipt = {
    block_number: 1,
    block_hash: '0x1',
    succeeded: true,
    gas_used: 21_000,
    effective_gas_price: '2',
  };
  const fields = (more: JsonObject = {}, ...rest: JsonObject[]): JsonObject => ({
    chain_id: 1,
    from: TO,
    gas_limit: 50_000,
    max_fee_per_gas: 9,
    max_priority_fee_per_gas: 1,
    receipt: { ...receipt, ...more },
    ...Object.assign({}, ...rest),
  });
  const took = (of: JsonObject) => spentBy({ request: request(), fields: of } as Transaction);
  t.strictSame(took(fields()), { value: 5n, fee: 42_000n });
  t.strictSame(took(fields({ succeeded: false })), { value: 0n, fee: 42_000n }, 'a revert gives the value back');
  t.strictSame(took(fields({ effective_gas_price: null })), { value: 5n, fee: 189_000n }, 'the most it can have been');
  t.strictSame(took(fields({}, { data_fee: '1000' })), { value: 5n, fee: 43_000n });
  t.strictSame(took({}), { value: 0n, fee: 0n }, 'never signed');
  const { receipt: _, ...signed } = fields();
  t.strictSame(took(signed), { value: 0n, fee: 0n }, 'never in a block');
  t.end();
});

t.test('recipients are addresses', (t) => {
  t.equal(chainSpending.recipient.read(TO.toUpperCase().replace('X', 'x')), TO.toLowerCase());
  t.equal(chainSpending.recipient.read(TO.replace('f39', 'F39')), undefined, 'a checksum that does not hold');
  t.equal(chainSpending.recipient.read('alice'), undefined);
  t.end();
});

t.test('functions are named by selector or signature', (t) => {
  const signatures = [
    'transfer(address,uint256)',
    'f()',
    'swap((address,uint24)[2][],bytes)',
    '$_1(bool)',
    'internalFixed(uint8,int128)',
  ];
  for (const signature of signatures)
    t.equal(chainSpending.selector.read(signature), id(signature).slice(0, 10), signature);
  t.equal(chainSpending.selector.read('0xA9059CBB'), '0xa9059cbb');
  t.equal(chainSpending.selector.read('0x'), '0x');
  const faults = [
    ...[
      '',
      '0xa9059c',
      'a9059cbb',
      'transfer',
      'transfer(address, uint256)',
      'transfer(address to)',
      'f(',
      'f)(',
      'f((uint256)',
    ],
    ...['transfer(address,uint)', 'f(int[])', 'f(byte)', 'function f()'],
  ];
  for (const fault of faults) t.equal(chainSpending.selector.read(fault), undefined, fault);
  t.end();
});
