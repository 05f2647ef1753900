import { Interface } from 'ethers';
import t from 'tap';
import { errorAbiSchema } from '../../../../../../src/chains/evm/form/error-abi.ts';

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

t.test('what would take long to parse is refused before', async (t) => {
  const tuples = (depth: number) => `error X(${'('.repeat(depth)}uint256${')'.repeat(depth)} x)`;
  const components = (depth: number) => {
    let input: object = { type: 'uint256', name: 'x' };
    for (let level = 0; level < depth; level += 1) input = { type: 'tuple', name: '', components: [input] };
    return { type: 'error', name: 'X', inputs: [input] };
  };
  const kept = errorAbiSchema.parse([tuples(8), components(8), `error X(uint256${'[]'.repeat(8)} x)`]);
  t.equal(kept[0], tuples(8));
  t.equal(kept.length, 3);
  const nested = /at most 4096 characters that nest at most 8 deep/;
  for (const [abi, said] of [
    [[tuples(9)], nested],
    [[tuples(7_000)], nested],
    [[components(9)], nested],
    [[components(200)], nested],
    [[{ type: 'error', name: '))))))))', inputs: [`${'('.repeat(10)}uint256${')'.repeat(10)}`] }], nested],
    [[{ type: 'error', name: `${')'.repeat(20)}${'('.repeat(20)}`, inputs: [] }], nested],
    [[`error X(uint256${'[]'.repeat(9)} x)`], nested],
    [[{ type: 'error', name: 'X', inputs: [{ type: `uint256${'[2]'.repeat(9)}`, name: '' }] }], nested],
    [[`error X(${Array.from({ length: 1_000 }, () => 'uint').join(',')})`], nested],
    [Array.from({ length: 513 }, () => 'error X()'), /at most 512 errors/],
    [Array.from({ length: 500_000 }, () => 0), /at most 2048 entries/],
  ] as const) {
    t.match(errorAbiSchema.safeParse(abi).error?.issues[0]?.message, said);
  }
});
