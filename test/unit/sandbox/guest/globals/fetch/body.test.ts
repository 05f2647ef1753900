import t from 'tap';
import { createBlobClasses } from '../../../../../../sandbox/guest/globals/fetch/blob.ts';
import { BodyContent, extractBody } from '../../../../../../sandbox/guest/globals/fetch/body.ts';
import { createFormDataClass } from '../../../../../../sandbox/guest/globals/fetch/form-data.ts';
import { guestWeb, NODE_WEB, outcomeOf, runtimeServices, type WebApis } from '../../../../../support/guest-web.ts';

const streamOf = ({ ReadableStream }: WebApis, ...chunks: unknown[]) =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });

const ATTEMPTS: Record<string, (web: WebApis) => unknown> = {
  text: async ({ Response }) => [await new Response('héllo\ud800').text(), await new Response().text()],
  'a byte order mark': async ({ Response }) => [
    (await new Response('\ufeffx').text()).length,
    (await new Response('\ufeffx').bytes()).length,
    (await new Response(Uint8Array.of(0xef, 0xbb, 0xbf, 0x78)).text()).length,
  ],
  json: async ({ Response }) => [
    await new Response('{"a":[1]}').json(),
    await outcomeOf(() => new Response('{').json()),
  ],
  bytes: async ({ Response }) => [
    [...(await new Response('é').bytes())],
    (await new Response(new Uint16Array([1, 2])).arrayBuffer()).byteLength,
    [...(await new Response(new DataView(Uint8Array.of(1, 2, 3).buffer, 1)).bytes())],
  ],
  'a copy of what was given': async ({ Response }) => {
    const bytes = Uint8Array.of(1, 2);
    const response = new Response(bytes);
    bytes.fill(9);
    return [...(await response.bytes())];
  },
  'types of bodies': ({ Response, Blob, FormData }) =>
    [
      'text',
      new URLSearchParams('a=b&c=d'),
      new Blob(['x'], { type: 'x/y' }),
      new Blob(['x']),
      Uint8Array.of(1),
      7 as never,
    ]
      .map((body) => new Response(body).headers.get('content-type'))
      .concat(new Response(new FormData()).headers.get('content-type')?.replace(/boundary=.*/, '') ?? ''),
  'a type that was given': ({ Response }) =>
    new Response('x', { headers: { 'content-type': 'a/b' } }).headers.get('content-type'),
  'a query as a form': async ({ Response }) => [...(await new Response(new URLSearchParams('a=b%20c&d')).formData())],
  'no form': async ({ Response }) => new Response('x').formData(),
  'a form without its boundary': async ({ Response }) =>
    new Response('x', { headers: { 'content-type': 'multipart/form-data' } }).formData(),
  'a blob with the type': async ({ Response, Blob }) => {
    const blob = await new Response('x', { headers: { 'content-type': 'a/b' } }).blob();
    return [blob instanceof Blob, blob.type, await blob.text()];
  },
  'once only': async ({ Response }) => {
    const response = new Response('x');
    const before = response.bodyUsed;
    await response.text();
    return [before, response.bodyUsed, await outcomeOf(() => response.text()), await outcomeOf(() => response.clone())];
  },
  'no body can be read often': async ({ Response }) => {
    const response = new Response();
    return [await response.text(), await response.text(), response.bodyUsed, response.body];
  },
  'an empty text is a body': async ({ Response }) => {
    const response = new Response('');
    const { body } = response;
    await response.text();
    return [body === null, response.bodyUsed];
  },
  'the body as a stream': async ({ Response }) => {
    const response = new Response('abc');
    const pieces: number[] = [];
    const { body } = response;
    const same = response.body === body;
    for await (const piece of body ?? []) pieces.push(...piece);
    return [same, pieces, response.bodyUsed, await outcomeOf(() => response.text())];
  },
  'a locked body': async ({ Response }) => {
    const response = new Response('abc');
    const reader = response.body?.getReader();
    const locked = [response.bodyUsed, await outcomeOf(() => response.text())];
    reader?.releaseLock();
    return [locked, await response.text()];
  },
  'a canceled body': async ({ Response }) => {
    const response = new Response('abc');
    await response.body?.cancel();
    return [response.bodyUsed, await outcomeOf(() => response.text())];
  },
  'a stream as the body': async (web) => {
    const response = new web.Response(streamOf(web, Uint8Array.of(97), Uint8Array.of(98)));
    return [response.headers.get('content-type'), await response.text(), response.bodyUsed];
  },
  'a stream of texts': (web) => new web.Response(streamOf(web, 'text')).text(),
  'a locked stream': (web) => {
    const stream = streamOf(web);
    stream.getReader();
    return new web.Response(stream);
  },
  'a stream that was read': async (web) => {
    const stream = streamOf(web, Uint8Array.of(1));
    const reader = stream.getReader();
    await reader.read();
    reader.releaseLock();
    return new web.Response(stream);
  },
  'a stream that breaks': ({ Response, ReadableStream }) =>
    new Response(
      new ReadableStream({
        pull() {
          throw new RangeError('broken');
        },
      }),
    ).text(),
  clones: async (web) => {
    const text = new web.Response('x');
    const stream = new web.Response(streamOf(web, Uint8Array.of(120)));
    const read = new web.Response('y');
    void read.body;
    const copies = [text.clone(), stream.clone(), read.clone()];
    return Promise.all([text, stream, read, ...copies].map((response) => response.text()));
  },
};

t.test('bodies do as Node’s', async (t) => {
  const web = guestWeb();
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    t.strictSame(await outcomeOf(() => attempt(web)), await outcomeOf(() => attempt(NODE_WEB)), name);
  }
});

t.test('a body that nobody looks at as a stream loads no streams', async (t) => {
  const { classes, streams } = runtimeServices();
  const asked: string[] = [];
  const blobs = createBlobClasses(streams);
  const world = {
    ...classes,
    blobs,
    FormData: createFormDataClass(blobs),
    streams: () => {
      asked.push('streams');
      return streams();
    },
    loadedStreams: () => undefined,
  };
  const { content } = extractBody(world, 'text');
  const copy = content.clone();
  t.strictSame([await content.whole(), content.isUsed], [{ text: 'text' }, true]);
  const moved = copy.move();
  t.throws(() => copy.move(), TypeError);
  t.strictSame([copy.isUnusable, await moved.whole(), asked], [true, { text: 'text' }, []]);
  t.ok(new BodyContent(world, { text: 'x' }).stream);
  t.ok(asked.length > 0);
});
