import { Interface } from 'ethers';
import t from 'tap';
import { errorAbiSchema } from '../../../../../src/chains/evm/error-abi.ts';

const TUPLE = {
  type: 'error',
  name: 'Denied',
  inputs: [{ type: 'tuple', name: 'who', components: [{ type: 'address', name: 'account' }] }],
};

t.test('of an ABI only the errors are kept, in one form', async (t) => {
  const kept = errorAbiSchema.parse([
    'function transfer(address, uint256)',
    { type: 'function', name: 'x', inputs: [] },
    ' error TooMuch(uint256 most)',
    TUPLE,
    'nonsense that nobody asked for',
  ]);
  t.same(kept, ['error TooMuch(uint256 most)', 'error Denied((address account) who)']);
  const abi = new Interface(kept);
  const data = abi.encodeErrorResult('TooMuch', [5]);
  t.equal(abi.parseError(data)?.args['most'], 5n, 'ethers reads the kept form');
  t.same(errorAbiSchema.parse(kept), kept, 'and so does the schema');
});

t.test('what is no ABI', async (t) => {
  for (const [abi, said] of [
    ['error X()', /expected a list of ABI entries/],
    [[5], /expected an ABI entry/],
    [['error X(nothing)'], /expected errors as JSON ABI entries/],
    [[{ type: 'error' }], /expected errors as JSON ABI entries/],
    [['function f()'.padEnd(65_536)], /at most 65536 characters/],
    [Array.from({ length: 1_000 }, (_, index) => `error TooMuchOf${index}(uint256 first)`), /at most 32768 characters/],
  ] as const) {
    t.match(errorAbiSchema.safeParse(abi).error?.issues[0]?.message, said);
  }
});
