/** Threat: a child that writes lengths and kinds of its own choice, to fill or to confuse the thread that reads. */
import t from 'tap';
import { fc } from '../../../test/support/properties.ts';
import { FIXED_LIMITS } from '../../contract.ts';
import { encodeFrame, FrameDecoder, ProtocolViolation } from '../../frames.ts';
import { childPayloadLimits } from '../../host/child/child-messages.ts';
import { UP } from '../../protocol.ts';
import { collectGarbage } from '../support/collect-garbage.ts';

type Frame = [kind: number, call: number, text: string];

function decoder(): { decoder: FrameDecoder; frames: Frame[] } {
  const frames: Frame[] = [];
  const caps = childPayloadLimits({ result_bytes: 1000 });
  return { decoder: new FrameDecoder(caps, (...frame) => frames.push(frame)), frames };
}

t.test('frames come out as they went in, however the bytes are cut', async (t) => {
  const frame = fc.tuple(
    fc.constantFrom(UP.READY, UP.REQUEST, UP.LOG, UP.DONE),
    fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    fc.string({ unit: 'grapheme', maxLength: 200 }),
  );
  fc.assert(
    fc.property(fc.array(frame), fc.integer({ min: 1, max: 64 }), (sent, cut) => {
      const { decoder: reader, frames } = decoder();
      const bytes = Buffer.concat(sent.map((one) => encodeFrame(...one)));
      for (let at = 0; at < bytes.length; at += cut) reader.push(bytes.subarray(at, at + cut));
      return JSON.stringify(frames) === JSON.stringify(sent);
    }),
  );
  t.pass('for every cut');
});

t.test('a frame that comes byte by byte takes no more memory than a whole one', async (t) => {
  const { decoder: reader, frames } = decoder();
  const sent = encodeFrame(UP.LOG, 7, 'x'.repeat(200_000));
  reader.push(sent.subarray(0, 1));
  collectGarbage();
  const before = process.memoryUsage();
  for (let at = 1; at < sent.length - 1; at += 1) reader.push(Buffer.from([sent[at] ?? 0]));
  collectGarbage();
  const after = process.memoryUsage();
  t.equal(frames.length, 0, 'half a frame is none');
  t.equal(reader.holding, true);
  // One object for each byte would be 20 MB and more.
  const grown = after.heapUsed + after.external - before.heapUsed - before.external;
  t.ok(grown < 5e6, `${grown} bytes`);
  reader.push(sent.subarray(-1));
  t.same(frames, [[UP.LOG, 7, 'x'.repeat(200_000)]]);
  t.equal(reader.holding, false);
});

t.test('a frame is refused by its header, before its payload is held', async (t) => {
  const header = (length: number, kind: number): Buffer => {
    const bytes = Buffer.alloc(9);
    bytes.writeUInt32BE(length, 0);
    bytes.writeUInt8(kind, 4);
    return bytes;
  };
  const refused: Record<string, Buffer> = {
    'four gigabytes': header(0xffffffff, UP.LOG),
    'more than a log line may have': header(5 + FIXED_LIMITS.log_bytes + 1, UP.LOG),
    'more than a result may have': header(5 + 2000 + FIXED_LIMITS.up_frame_slack_bytes + 1, UP.DONE),
    'a payload where there is none': header(6, UP.ENTER),
    'less than a header': header(4, UP.LOG),
    'an unknown kind': header(5, 200),
    'kind zero': header(5, 0),
  };
  for (const [name, bytes] of Object.entries(refused)) {
    t.throws(() => decoder().decoder.push(bytes), ProtocolViolation, name);
  }
});

t.test('the caps follow the version that is loaded', async (t) => {
  const { decoder: reader, frames } = decoder();
  const large = encodeFrame(UP.DONE, 1, 'x'.repeat(100_000));
  reader.mostBytes = childPayloadLimits({ result_bytes: 100_000 });
  reader.push(large);
  t.equal(frames.length, 1);
});
