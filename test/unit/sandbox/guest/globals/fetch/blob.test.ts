import t from 'tap';
import { createBlobClasses } from '../../../../../../sandbox/guest/globals/fetch/blob.ts';
import { guestWeb, NODE_WEB, outcomeOf, runtimeServices, type WebApis } from '../../../../../support/guest-web.ts';

const ATTEMPTS: Record<string, (web: WebApis) => unknown> = {
  parts: async ({ Blob }) => {
    const blob = new Blob(['é', new Blob(['b']), Uint8Array.of(99), new Uint8Array([100, 101]).buffer, 7 as never], {
      type: 'Text/Plain',
    });
    return [blob.size, blob.type, await blob.text(), [...(await blob.bytes())], (await blob.arrayBuffer()).byteLength];
  },
  nothing: ({ Blob }) => [new Blob().size, new Blob().type],
  'no list': ({ Blob }) => new Blob('text' as never),
  'a list that is no array': async ({ Blob }) => new Blob(new Set(['a', 'b']) as never).text(),
  'a bad type': ({ Blob }) => new Blob([], { type: 'é' }).type,
  'bad options': ({ Blob }) => new Blob([], 'x' as never).type,
  endings: async ({ Blob }) => new Blob(['a\r\nb\rc\n'], { endings: 'native' }).text(),
  'bad endings': ({ Blob }) => new Blob([], { endings: 'x' as never }),
  slices: async ({ Blob }) => {
    const blob = new Blob(['0123456789'], { type: 'a/b' });
    const slices = [
      blob.slice(),
      blob.slice(2, 4),
      blob.slice(-3),
      blob.slice(0, -8, 'C/D'),
      blob.slice(8, 2),
      blob.slice(NaN, 99),
    ];
    return Promise.all(slices.map(async (slice) => [await slice.text(), slice.type]));
  },
  stream: async ({ Blob }) => {
    const pieces: number[] = [];
    for await (const piece of new Blob(['abc']).stream()) pieces.push(...piece);
    return pieces;
  },
  'a byte order mark': async ({ Blob }) => (await new Blob(['\ufeffx']).text()).length,
  file: async ({ File, Blob }) => {
    const file = new File(['x'], 'n\ud800.txt', { type: 'a/b', lastModified: 7 });
    return [
      file.name,
      file.lastModified,
      file.type,
      await file.text(),
      file instanceof Blob,
      String(file),
      file.slice() instanceof File,
    ];
  },
  'no name': ({ File }) => new (File as unknown as new (parts: unknown[]) => unknown)([]),
  tag: ({ Blob }) => String(new Blob()),
};

t.test('blobs do as Node’s', async (t) => {
  const web = guestWeb();
  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    t.strictSame(await outcomeOf(() => attempt(web)), await outcomeOf(() => attempt(NODE_WEB)), name);
  }
});

t.test('their bytes are found by themselves, whatever a plugin says of an object', (t) => {
  const { Blob, bytesIn } = createBlobClasses(runtimeServices().streams);
  t.same(bytesIn(new Blob(['a'])), Uint8Array.of(97));
  t.equal(bytesIn(Object.create(Blob.prototype)), undefined);
  t.equal(bytesIn({ size: 1 }), undefined);
  t.equal(bytesIn(null), undefined);
  t.end();
});
