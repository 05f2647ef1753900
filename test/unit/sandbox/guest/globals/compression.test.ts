/** Threat: compressed data that is cut short, was changed, has more behind it, or becomes a thousand times as much. */

import { deflateRawSync, deflateSync, gunzipSync, gzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import t from 'tap';
import { createCompressionClasses } from '../../../../../sandbox/guest/lazy/compression.ts';
import { createStreamClasses } from '../../../../../sandbox/guest/lazy/streams.ts';

const streams = createStreamClasses();
const { CompressionStream, DecompressionStream } = createCompressionClasses(streams);
const TEXT = Buffer.from('some text, '.repeat(5000));

/** What comes out of a stream that these chunks go through. */
async function through(stream: { readable: unknown; writable: unknown }, ...chunks: unknown[]): Promise<Buffer> {
  const writer = (stream.writable as WritableStream<unknown>).getWriter();
  const written = Promise.all([...chunks.map((chunk) => writer.write(chunk)), writer.close()]);
  written.catch(() => undefined);
  const out = await streams.readAll(stream.readable as never);
  await written;
  return Buffer.concat(out);
}

const FORMATS = {
  gzip: [gzipSync, gunzipSync],
  deflate: [deflateSync, inflateSync],
  'deflate-raw': [deflateRawSync, inflateRawSync],
} as const;

t.test('what one side packs the other unpacks', async (t) => {
  for (const [format, [pack, unpack]] of Object.entries(FORMATS)) {
    t.same(unpack(await through(new CompressionStream(format), TEXT.subarray(0, 9), TEXT.subarray(9))), TEXT, format);
    const packed = pack(TEXT);
    t.same(await through(new DecompressionStream(format), packed.subarray(0, 20), packed.subarray(20)), TEXT, format);
    t.same(unpack(await through(new CompressionStream(format))), Buffer.alloc(0), 'nothing');
  }
  const { buffer } = new Uint8Array(gzipSync('x'));
  t.equal((await through(new DecompressionStream('gzip'), buffer)).toString(), 'x');
  t.equal(String(new CompressionStream('gzip')), '[object CompressionStream]');
  t.equal(String(new DecompressionStream('gzip')), '[object DecompressionStream]');
});

t.test('what is not whole is an error', async (t) => {
  const packed = gzipSync(TEXT);
  const changed = Buffer.from(packed);
  changed.writeUInt32LE(5, packed.length - 8);
  for (const [name, ...chunks] of [
    ['cut short', packed.subarray(0, -3)],
    ['changed', changed],
    ['more behind', Buffer.concat([packed, Buffer.from([0, 1])])],
    ['more later', packed, Buffer.from('x')],
    ['another format', deflateSync(TEXT)],
    ['nothing'],
    ['text', 'text'],
  ] as [string, ...unknown[]][]) {
    await t.rejects(through(new DecompressionStream('gzip'), ...chunks), TypeError, name);
  }
  await t.rejects(through(new CompressionStream('gzip'), 5), TypeError);
  t.throws(() => new CompressionStream('brotli'), TypeError);
  t.throws(() => new DecompressionStream(undefined), TypeError);
});
