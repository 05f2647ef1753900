import { encodeRlp as oracle } from 'ethers/utils';
import t from 'tap';
import { encodeRlp, type RlpItem } from '../../../../../../src/chains/evm/form/rlp.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 3 }),
  fc.uint8Array({ minLength: 54, maxLength: 58 }),
  fc.uint8Array({ minLength: 250, maxLength: 260 }),
);
const text = bytes.map((of) => `0x${Buffer.from(of).toString('hex')}`);
const { item } = fc.letrec<{ item: RlpItem; list: RlpItem[] }>((tie) => ({
  item: fc.oneof({ depthSize: 'small' }, text, tie('list')),
  list: fc.array(tie('item'), { maxLength: 6 }),
}));

t.test('it encodes as ethers does', async (t) => {
  const property = fc.property(item, (of) => encodeRlp(of) === oracle(of as Parameters<typeof oracle>[0]));
  fc.assert(property, { numRuns: runsOf(200) });
  const long = `0x${'ab'.repeat(70_000)}`;
  t.equal(encodeRlp([long, []]), oracle([long, []]));
});

t.test('the examples of the Ethereum wiki', async (t) => {
  const hex = (of: string) => `0x${Buffer.from(of).toString('hex')}`;
  t.equal(encodeRlp(hex('dog')), '0x83646f67');
  t.equal(encodeRlp([hex('cat'), hex('dog')]), '0xc88363617483646f67');
  t.equal(encodeRlp('0x'), '0x80');
  t.equal(encodeRlp('0x0f'), '0x0f');
  t.equal(encodeRlp([[], [[]], [[], [[]]]]), '0xc7c0c1c0c3c0c1c0');
});
