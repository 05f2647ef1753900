import t from 'tap';
import { fc, runsOf } from '../../../../../test/support/properties.ts';
import { createBlobClasses } from '../../../../guest/globals/fetch/blob.ts';
import { createFormDataClass } from '../../../../guest/globals/fetch/form-data.ts';
import { headerLines, Headers as Ours } from '../../../../guest/globals/fetch/headers.ts';
import { boundaryOf, decodeMultipart, encodeMultipart } from '../../../../guest/globals/fetch/multipart.ts';
import { parseForm, serializeForm } from '../../../../guest/globals/url-search-params.ts';
import { guestWeb, NODE_WEB, outcomeOf, runtimeServices, type WebApis } from '../../../support/guest-web.ts';

t.test('form data', async (t) => {
  const ATTEMPTS: Record<string, (web: WebApis) => unknown> = {
    texts: ({ FormData }) => {
      const form = new FormData();
      form.append('a', '1');
      form.append('b', 2);
      form.append('a', '\ud800');
      form.set('b', 'x');
      form.set('c', 'y');
      const before = [...form];
      form.set('a', 'z');
      form.delete('c');
      return [
        before,
        [...form.keys()],
        [...form.values()],
        form.get('a'),
        form.getAll('a'),
        form.has('c'),
        form.get('c'),
      ];
    },
    files: async ({ FormData, Blob, File }) => {
      const form = new FormData();
      form.append('a', new Blob(['x'], { type: 't/u' }));
      form.append('b', new Blob(['x']), 'named');
      const given = new File(['y'], 'own', { lastModified: 5 });
      form.append('c', given);
      form.append('d', given, 'other');
      const files = [...form.values()] as File[];
      return [
        files.map((file) => [file instanceof File, file.name, file.type]),
        form.get('c') === given,
        files[3]?.lastModified,
      ];
    },
    'a name for a text': ({ FormData }) => new FormData().append('a', 'b', 'c'),
    'a form element': ({ FormData }) => new (FormData as unknown as new (form: unknown) => unknown)({}),
    forEach: ({ FormData }) => {
      const form = new FormData();
      form.append('a', '1');
      const seen: unknown[] = [];
      Reflect.apply(form.forEach, form, [(value: unknown, name: string) => seen.push(value, name)]);
      return seen;
    },
    'no callback': ({ FormData }) => Reflect.apply(FormData.prototype.forEach, new FormData(), [undefined]),
    tag: ({ FormData }) => String(new FormData()),
  };

  t.test('forms do as Node’s', async (t) => {
    const web = guestWeb();
    for (const [name, attempt] of Object.entries(ATTEMPTS)) {
      t.strictSame(await outcomeOf(() => attempt(web)), await outcomeOf(() => attempt(NODE_WEB)), name);
    }
  });

  t.test('what is appended on the way is visited too', (t) => {
    const FormData = createFormDataClass(createBlobClasses(runtimeServices().streams));
    const form = new FormData();
    form.append('a', '1');
    const seen: string[] = [];
    for (const [name] of form) {
      seen.push(name);
      if (seen.length < 3) form.append(`${name}x`, '1');
    }
    t.strictSame(seen, ['a', 'ax', 'axx']);
    t.end();
  });
});

t.test('multipart', async (t) => {
  const blobs = createBlobClasses(runtimeServices().streams);
  const { Blob, File, bytesIn } = blobs;
  const FormData = createFormDataClass(blobs);

  function form() {
    const made = new FormData();
    made.append('plain', 'a\nb\r\nc\rd');
    made.append('na"me\r\n', 'é');
    made.append('file', new Blob([Uint8Array.of(0, 13, 10, 255)], { type: 'x/y' }), 'fi"le.bin');
    made.append('empty', new Blob([]), 'none');
    return made;
  }

  t.test('Node reads what is written here', async (t) => {
    const { bytes, boundary } = encodeMultipart(form(), bytesIn);
    const read = await new Response(bytes, {
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    }).formData();
    t.strictSame([...read.keys()], ['plain', 'na"me\r\n', 'file', 'empty']);
    t.equal(read.get('plain'), 'a\r\nb\r\nc\r\nd');
    t.equal(read.get('na"me\r\n'), 'é');
    const file = read.get('file') as File;
    t.same([file.name, file.type, [...(await file.bytes())]], ['fi"le.bin', 'x/y', [0, 13, 10, 255]]);
  });

  t.test('a form is the same bytes each time, and its boundary is nowhere in it', (t) => {
    t.strictSame(encodeMultipart(form(), bytesIn), encodeMultipart(form(), bytesIn));
    const tricky = new FormData();
    tricky.append('a', '----formdata-isolayer-1');
    tricky.append('b', new Blob(['x----formdata-isolayer-2x']), '----formdata-isolayer-3');
    t.equal(encodeMultipart(tricky, bytesIn).boundary, '----formdata-isolayer-4');
    t.end();
  });

  t.test('what Node writes is read here', async (t) => {
    const theirs = new globalThis.FormData();
    theirs.append('plain', 'a\nb');
    theirs.append('n"', 'é');
    theirs.append('file', new globalThis.Blob([Uint8Array.of(0, 13, 10, 255)], { type: 'x/y' }), 'f"');
    const response = new Response(theirs);
    const boundary = boundaryOf(response.headers.get('content-type') ?? '') ?? '';
    const read = decodeMultipart(await response.bytes(), boundary, { FormData, File });
    t.strictSame([...read.keys()], ['plain', 'n"', 'file']);
    t.equal(read.get('plain'), 'a\r\nb');
    t.equal(read.get('n"'), 'é');
    const file = read.get('file') as InstanceType<typeof File>;
    t.same([file.name, file.type, [...(await file.bytes())]], ['f"', 'x/y', [0, 13, 10, 255]]);
  });

  t.test('what is no form is refused', (t) => {
    const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'));
    const read = (text: string) => decodeMultipart(bytes(text), 'B', { FormData, File });
    t.equal([...read('--B--\r\n').keys()].length, 0);
    for (const text of [
      '',
      'nothing',
      '--B',
      '--B\r\n',
      '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\nx',
      '--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n--B--',
      '--B\r\nContent-Disposition: attachment; name="a"\r\n\r\nx\r\n--B--',
      '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\nx--B--',
      '--Bx',
    ]) {
      t.throws(() => read(text), TypeError, JSON.stringify(text));
    }
    t.equal(boundaryOf('multipart/form-data; boundary="a b"'), 'a b');
    t.equal(boundaryOf('multipart/form-data'), undefined);
    t.end();
  });
});

t.test('blob', async (t) => {
  const ATTEMPTS: Record<string, (web: WebApis) => unknown> = {
    parts: async ({ Blob }) => {
      const blob = new Blob(['é', new Blob(['b']), Uint8Array.of(99), new Uint8Array([100, 101]).buffer, 7 as never], {
        type: 'Text/Plain',
      });
      return [
        blob.size,
        blob.type,
        await blob.text(),
        [...(await blob.bytes())],
        (await blob.arrayBuffer()).byteLength,
      ];
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
});

t.test('headers', async (t) => {
  type HeadersClass = typeof Headers;

  const ATTEMPTS: Record<string, (H: HeadersClass) => unknown> = {
    'from a record': (H) => [...new H({ 'X-B': '2', a: '1' })],
    'from pairs': (H) => [
      ...new H([
        ['b', '2'],
        ['a', '1'],
        ['B', '3'],
      ]),
    ],
    'from headers': (H) => [...new H(new H({ a: '1' }))],
    'from nothing': (H) => [...new H()],
    'from null': (H) => [...new H(null as never)],
    'from a text': (H) => [...new H('a: b' as never)],
    'from a triple': (H) => [...new H([['a', 'b', 'c']] as never)],
    'from a map': (H) => [...new H(new Map([['a', 'b']]) as never)],
    'values lose their edges': (H) => new H({ a: ' \t v w \r\n' }).get('A'),
    'values are joined': (H) => {
      const headers = new H({ a: '1' });
      headers.append('A', '2');
      return headers.get('a');
    },
    'cookies are not': (H) => {
      const headers = new H([
        ['set-cookie', 'a'],
        ['x', 'y'],
        ['Set-Cookie', 'b'],
      ]);
      return [
        headers.get('set-cookie'),
        headers.getSetCookie(),
        [...headers],
        [...headers.keys()],
        [...headers.values()],
      ];
    },
    set: (H) => {
      const headers = new H([
        ['a', '1'],
        ['b', '2'],
        ['a', '3'],
      ]);
      headers.set('A', '4');
      headers.set('c', '5');
      headers.delete('B');
      return [[...headers], headers.has('a'), headers.has('b'), headers.get('b')];
    },
    forEach: (H) => {
      const seen: unknown[] = [];
      const note = function (this: unknown, value: string, name: string) {
        seen.push(this, value, name);
      };
      Reflect.apply(H.prototype.forEach, new H({ a: '1' }), [note, 'self']);
      return seen.map(String);
    },
    'a name with a space': (H) => new H({ 'a b': '1' }),
    'an empty name': (H) => new H([['', '1']]),
    'a value with a line break': (H) => new H({ a: 'x\r\ny: z' }),
    'a value with a null': (H) => new H({ a: 'x\0' }),
    'a value beyond bytes': (H) => new H({ a: '€' }),
    'a value of Latin-1': (H) => new H({ a: 'é' }).get('a'),
    'a symbol': (H) => new H({ a: Symbol('x') } as never),
    'a number': (H) => new H({ a: 1 } as never).get('a'),
    tag: (H) => Object.prototype.toString.call(new H()),
    'no callback': (H) => Reflect.apply(H.prototype.forEach, new H(), [undefined]),
  };

  t.test('headers do as Node’s', async (t) => {
    for (const [name, attempt] of Object.entries(ATTEMPTS)) {
      t.strictSame(
        await outcomeOf(() => attempt(Ours as unknown as HeadersClass)),
        await outcomeOf(() => attempt(Headers)),
        name,
      );
    }
  });

  t.test('what is sent is every line as it was given', (t) => {
    t.strictSame(
      headerLines(
        new Ours([
          ['B', '2'],
          ['a', '1'],
          ['b', '3'],
        ]),
      ),
      [
        ['b', '2'],
        ['a', '1'],
        ['b', '3'],
      ],
    );
    t.strictSame(
      Reflect.ownKeys(Ours)
        .filter((key) => typeof key === 'string')
        .sort(),
      ['length', 'name', 'prototype'],
    );
    t.end();
  });
});

t.test('agrees with the engine', (t) => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('%', '%4', '%zz', '%C3%A9', '%ff', '+', '&=', '=&', '%41=%26'),
  );
  fc.assert(
    fc.property(fc.array(text), (pieces) => {
      const query = pieces.join('&');
      const native = [...new URLSearchParams(`?${query}`)];
      return (
        JSON.stringify(parseForm(query)) === JSON.stringify(native) &&
        serializeForm(native) === String(new URLSearchParams(native))
      );
    }),
    { numRuns: runsOf(500) },
  );
  t.strictSame(parseForm('a=1&&b&=c&d=e=f&x=%C3%A9+y&bad=%ff%'), [
    ['a', '1'],
    ['b', ''],
    ['', 'c'],
    ['d', 'e=f'],
    ['x', 'é y'],
    ['bad', '\ufffd%'],
  ]);
  t.equal(serializeForm([['a b', 'é&=*-._~']]), 'a+b=%C3%A9%26%3D*-._%7E');
  t.end();
});
