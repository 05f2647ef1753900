import t from 'tap';
import { ByteReader, ByteWriter } from '../../../../../../src/chains/solana/message/binary.ts';

class Fault extends Error {}

const read = (...bytes: number[]) => new ByteReader(Buffer.from(bytes), Fault);
const shortvec = (value: number) => [...new ByteWriter().shortvec(value).finish()];

/** The vectors of the runtime's own tests (solana-sdk, short-vec). */
const VECTORS: readonly [number, number[]][] = [
  [0x0000, [0x00]],
  [0x007f, [0x7f]],
  [0x0080, [0x80, 0x01]],
  [0x00ff, [0xff, 0x01]],
  [0x0100, [0x80, 0x02]],
  [0x07ff, [0xff, 0x0f]],
  [0x3fff, [0xff, 0x7f]],
  [0x4000, [0x80, 0x80, 0x01]],
  [0xffff, [0xff, 0xff, 0x03]],
];

t.test('a compact-u16 has one form', async (t) => {
  for (const [value, bytes] of VECTORS) t.same(shortvec(value), bytes);
  let wrong = 0;
  for (let value = 0; value <= 0xffff; value += 1) {
    const reader = read(...shortvec(value));
    if (reader.shortvec() !== value || reader.rest().length > 0) wrong += 1;
  }
  t.equal(wrong, 0);
});

t.test('no other form of it is taken', async (t) => {
  const refused = [
    [0x80, 0x00],
    [0xff, 0x00],
    [0x80, 0x80, 0x00],
    [0xff, 0xff, 0x00],
    [0x80, 0x80, 0x04],
    [0xff, 0xff, 0x7f],
    [0x80, 0x80, 0x80],
    [0x80, 0x80, 0x80, 0x00],
    [0xff, 0xff, 0xff, 0x01],
  ];
  for (const bytes of refused) {
    t.throws(() => read(...bytes).shortvec(), new Fault('a length in it is no canonical compact-u16'));
  }
  for (const bytes of [[], [0x80], [0x80, 0x80]]) t.throws(() => read(...bytes).shortvec(), /ends too early/);

  let wrong = 0;
  for (let bytes = 0; bytes < 1 << 16; bytes += 1) {
    const reader = read(bytes & 0xff, bytes >> 8, 0);
    const value = valueOf(reader);
    const taken = [bytes & 0xff, bytes >> 8, 0].slice(0, 3 - reader.rest().length);
    if (value !== undefined && String(shortvec(value)) !== String(taken)) wrong += 1;
  }
  t.equal(wrong, 0, 'what is taken is what is written');
});

function valueOf(reader: ByteReader): number | undefined {
  try {
    return reader.shortvec();
  } catch {
    return undefined;
  }
}

t.test('a reader goes from the first byte to the last, and no further', async (t) => {
  const reader = read(1, 2, 3, 4, 5, 6);
  t.equal(reader.byte(), 1);
  t.same([...reader.take(2)], [2, 3]);
  t.same(
    reader.list(2, () => reader.byte()),
    [4, 5],
  );
  t.throws(() => reader.take(2), new Fault('it ends too early, 1 bytes are left where 2 are needed'));
  t.throws(() => reader.end(), new Fault('it goes on after its end, for 1 bytes'));
  t.same([...reader.rest()], [6]);
  t.doesNotThrow(() => reader.end());
  t.equal(reader.take(0).length, 0);
});

t.test('a list that ends too early costs no more than what there is of it', async (t) => {
  const reader = read(7, 8);
  let count = 0;
  t.throws(() => reader.list(65_535, () => [reader.byte(), (count += 1)]), /ends too early/);
  t.equal(count, 2);
});

t.test('a writer takes what the form holds', async (t) => {
  const writer = new ByteWriter().byte(255).bytes([1, 2]).bytes(Buffer.from('ab')).indexes([7, 8]);
  t.same([...writer.finish()], [255, 1, 2, 97, 98, 2, 7, 8]);
  for (const bad of [-1, 256, 0.5, Number.NaN]) t.throws(() => new ByteWriter().byte(bad), RangeError);
  for (const bad of [-1, 65_536, 1.5]) t.throws(() => new ByteWriter().shortvec(bad), RangeError);
});
