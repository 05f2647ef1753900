/** Threat: a frame that says it is larger than anything that is to be held in memory. */
import t from 'tap';
import { encodeFrame, FrameReader } from '../../../../src/plugin-host/bundler-frames.ts';

const most = { message: 100, bytes: 1000 };

t.test('frames come out as they went in, in pieces of any size', async (t) => {
  const sent = Buffer.concat([
    encodeFrame({ n: 1 }),
    encodeFrame('é', Buffer.from('abc'), Buffer.from('de')),
    encodeFrame(null, Buffer.alloc(1000, 7)),
  ]);
  for (const size of [1, 3, 8, 9, 100, sent.length]) {
    const reader = new FrameReader(most);
    const frames = [];
    for (let at = 0; at < sent.length; at += size) frames.push(...reader.push(sent.subarray(at, at + size)));
    t.strictSame(
      frames.map(({ message, bytes }) => [message, bytes.toString('latin1')]),
      [
        [{ n: 1 }, ''],
        ['é', 'abcde'],
        [null, '\x07'.repeat(1000)],
      ],
      `pieces of ${size}`,
    );
  }
});

t.test('what is too large is refused by its head', async (t) => {
  const head = (text: number, bytes: number) => {
    const buffer = Buffer.alloc(8);
    buffer.writeUInt32BE(text, 0);
    buffer.writeUInt32BE(bytes, 4);
    return buffer;
  };
  t.throws(() => new FrameReader(most).push(head(101, 0)), /too large/);
  t.throws(() => new FrameReader(most).push(head(0, 1001)), /too large/);
  t.same(new FrameReader(most).push(head(100, 1000)), []);
});

t.test('a message that is no JSON is refused', async (t) => {
  const frame = encodeFrame({});
  frame.write('x', 8);
  t.throws(() => new FrameReader(most).push(frame), SyntaxError);
});
