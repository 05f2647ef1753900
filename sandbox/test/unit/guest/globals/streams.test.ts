import { deflateRawSync, deflateSync, gunzipSync, gzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import t from 'tap';
import { createCompressionClasses } from '../../../../guest/lazy/compression.ts';
import { createStreamClasses } from '../../../../guest/lazy/streams.ts';
import { outcomeOf } from '../../../support/guest-web.ts';

type Streams = Pick<
  typeof globalThis,
  | 'ReadableStream'
  | 'WritableStream'
  | 'TransformStream'
  | 'TextDecoderStream'
  | 'TextEncoderStream'
  | 'CountQueuingStrategy'
>;

const ours = createStreamClasses();

async function all(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const chunks: unknown[] = [];
  for await (const chunk of stream) chunks.push(chunk instanceof Uint8Array ? [...chunk] : chunk);
  return chunks;
}

const of = ({ ReadableStream }: Streams, ...chunks: unknown[]) =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });

const ATTEMPTS: Record<string, (streams: Streams) => unknown> = {
  'reading by loop': (s) => all(of(s, 1, 2, 3)),
  'reading by reader': async (s) => {
    const reader = of(s, 1).getReader();
    return [await reader.read(), await reader.read(), await reader.closed];
  },
  'from an iterable': ({ ReadableStream }) => all(ReadableStream.from(['a', 'b'])),
  tee: async (s) => {
    const [a, b] = of(s, 1, 2).tee();
    return [await all(a), await all(b)];
  },
  'a locked stream': (s) => {
    const stream = of(s, 1);
    stream.getReader();
    return [stream.locked, stream.getReader()];
  },
  'an error on the way': ({ ReadableStream }) =>
    all(
      new ReadableStream({
        pull() {
          throw new RangeError('broken');
        },
      }),
    ),
  pipeThrough: (s) =>
    all(
      of(s, 'a', 'b').pipeThrough(
        new s.TransformStream<string, string>({
          transform: (chunk, controller) => controller.enqueue(chunk.toUpperCase()),
        }),
      ),
    ),
  pipeTo: async (s) => {
    const got: unknown[] = [];
    await of(s, 1, 2).pipeTo(
      new s.WritableStream({
        write(chunk) {
          got.push(chunk);
        },
        close() {
          got.push('closed');
        },
      }),
    );
    return got;
  },
  'back-pressure': async ({ ReadableStream, CountQueuingStrategy }) => {
    let pulled = 0;
    const stream = new ReadableStream(
      { pull: (controller) => controller.enqueue(++pulled) },
      new CountQueuingStrategy({ highWaterMark: 2 }),
    );
    await new Promise((resolve) => setImmediate(resolve));
    const before = pulled;
    await stream.cancel();
    return before;
  },
  'reading bytes into a buffer': async ({ ReadableStream }) => {
    const stream = new ReadableStream({
      type: 'bytes',
      start(controller) {
        controller.enqueue(Uint8Array.of(1, 2, 3));
        controller.close();
      },
    });
    const { value } = await stream.getReader({ mode: 'byob' }).read(new Uint8Array(2));
    return [...(value ?? [])];
  },
  'decoding text': (s) =>
    all(of(s, Uint8Array.of(0xc3), Uint8Array.of(0xa9, 0x78)).pipeThrough(new s.TextDecoderStream() as never)),
  'decoding bad text': (s) =>
    all(of(s, Uint8Array.of(0xc3)).pipeThrough(new s.TextDecoderStream('utf-8', { fatal: true }) as never)),
  'encoding text': (s) => all(of(s, 'a', '\ud83d', '\ude00', '\ud83d').pipeThrough(new s.TextEncoderStream() as never)),
  'their settings': ({ TextDecoderStream, TextEncoderStream }) => {
    const decoder = new TextDecoderStream('utf-8', { ignoreBOM: true });
    return [decoder.encoding, decoder.fatal, decoder.ignoreBOM, new TextEncoderStream().encoding];
  },
  'a writer': async ({ WritableStream }) => {
    const writer = new WritableStream({
      write() {
        throw new RangeError('full');
      },
    }).getWriter();
    return writer.write('x');
  },
};

t.test('streams do as Node’s', async (t) => {
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    t.strictSame(
      await outcomeOf(() => attempt(ours as unknown as Streams)),
      await outcomeOf(() => attempt(globalThis)),
      name,
    );
  }
});

t.test('the streams of bodies are made when they are read', async (t) => {
  let made = 0;
  const stream = ours.streamOf(() => {
    made++;
    return Uint8Array.of(1, 2);
  });
  t.ok(ours.isStream(stream));
  t.notOk(ours.isStream(new ReadableStream()));
  await new Promise((resolve) => setImmediate(resolve));
  t.strictSame([made, ours.isDisturbed(stream)], [0, false]);
  t.same(await ours.readAll(stream), [Uint8Array.of(1, 2)]);
  t.strictSame([made, ours.isDisturbed(stream)], [1, true]);
  t.same(await ours.readAll(ours.streamOf(() => new Uint8Array())), []);
  const reader = ours.streamOf(() => new Uint8Array()).getReader({ mode: 'byob' });
  t.equal((await reader.read(new Uint8Array(1))).done, true, 'also where nothing comes into the buffer that was given');
  const texts = new ours.ReadableStream({ start: (controller) => controller.enqueue('text') });
  await t.rejects(ours.readAll(texts as never), TypeError);
});

/** Threat: compressed data that is cut short, was changed, has more behind it, or becomes a thousand times as much. */
t.test('compression', async (t) => {
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
});
