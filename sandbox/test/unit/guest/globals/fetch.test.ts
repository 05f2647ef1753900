import t from 'tap';
import { createBlobClasses } from '../../../../guest/globals/fetch/blob.ts';
import { BodyContent, extractBody } from '../../../../guest/globals/fetch/body.ts';
import { type CallFetchCapability, readDataUrl } from '../../../../guest/globals/fetch/fetch.ts';
import { createFormDataClass } from '../../../../guest/globals/fetch/form-data.ts';
import type { CapabilityContract } from '../../../../guest/sdk/capabilities.ts';
import { guestWeb, NODE_WEB, outcomeOf, runtimeServices, type WebApis } from '../../../support/guest-web.ts';

type FetchParams = CapabilityContract['fetch']['params'];

t.test('fetch', async (t) => {
  const REPLY: CapabilityContract['fetch']['result'] = {
    url: 'https://a.test/x',
    redirected: false,
    status: 200,
    statusText: 'OK',
    headers: [
      ['content-type', 'application/json'],
      ['set-cookie', 'a'],
      ['set-cookie', 'b'],
    ],
    body: { text: '{"a":1}' },
    more: false,
  };

  /** The service's side: keeps what it is asked, and answers as told. */
  function open(answer: (method: string, params: FetchParams) => unknown = () => REPLY) {
    const asked: { method: string; params: FetchParams }[] = [];
    const ask = async (method: string, params: FetchParams) => {
      asked.push({ method, params });
      return answer(method, params);
    };
    return { asked, ...guestWeb(ask as unknown as CallFetchCapability) };
  }

  const turn = () => new Promise((resolve) => setImmediate(resolve));

  t.test('a request is sent as it was made, and the answer is a Response', async (t) => {
    const { fetch, Response, asked } = open();
    const response = await fetch('https://a.test/x#part', {
      method: 'patch',
      headers: { 'X-A': '1', host: 'evil', 'content-length': '7', Connection: 'close', 'proxy-x': 'y' },
      body: 'héllo',
      redirect: 'manual',
    });
    t.strictSame(asked, [
      {
        method: 'fetch',
        params: {
          key: 1,
          url: 'https://a.test/x#part',
          method: 'PATCH',
          headers: [
            ['x-a', '1'],
            ['content-type', 'text/plain;charset=UTF-8'],
          ],
          redirect: 'manual',
          body: { text: 'héllo' },
        },
      },
    ]);
    t.ok(response instanceof Response);
    t.match(response, {
      status: 200,
      ok: true,
      statusText: 'OK',
      url: 'https://a.test/x',
      type: 'basic',
      redirected: false,
    });
    t.strictSame(response.headers.getSetCookie(), ['a', 'b']);
    t.same(await response.json(), { a: 1 });
  });

  t.test('bodies that are no text go as base64, whatever they are made of', async (t) => {
    const { fetch, Blob, FormData, ReadableStream, asked } = open();
    const post = (body: unknown) => fetch('https://a.test/', { method: 'POST', body: body as never, duplex: 'half' });
    await post(Uint8Array.of(1, 255));
    await post(new Blob(['b']));
    await post(ReadableStream.from([Uint8Array.of(1), Uint8Array.of(2)]));
    await post(new URLSearchParams('a=b'));
    await post(new FormData());
    t.same(asked.map(({ params }) => params.body).slice(0, 4), [
      { base64: 'Af8=' },
      { base64: 'Yg==' },
      { base64: 'AQI=' },
      { text: 'a=b' },
    ]);
    t.match(asked[4]?.params.headers, [['content-type', /^multipart\/form-data; boundary=----formdata-isolayer-1$/]]);
    await t.rejects(post('x'.repeat(750_001)), { name: 'TypeError', message: /at most 750000 bytes/ });
    await t.rejects(post(new Uint8Array(100_000_000)), { name: 'TypeError' });
    t.equal(asked.length, 5, 'what is too large is not even encoded');
  });

  t.test('a long answer is fetched piece by piece', async (t) => {
    const rest = [
      { body: { base64: 'Ag==' }, more: true },
      { body: { base64: 'AwQ=' }, more: false },
    ];
    const { fetch, asked } = open((method) =>
      method === 'fetch' ? { ...REPLY, body: { base64: 'AQ==' }, more: true } : rest.shift(),
    );
    t.same([...(await (await fetch('https://a.test/')).bytes())], [1, 2, 3, 4]);
    t.strictSame(
      asked.map(({ method, params }) => `${method} ${params.key}`),
      ['fetch 1', 'fetch.read 1', 'fetch.read 1'],
    );
  });

  t.test('answers without a body have none', async (t) => {
    const { fetch } = open((_method, { method }) => ({
      ...REPLY,
      status: method === 'HEAD' ? 200 : 204,
      body: { text: '' },
    }));
    t.equal((await fetch('https://a.test/', { method: 'HEAD' })).body, null);
    t.equal((await fetch('https://a.test/', { method: 'DELETE' })).body, null);
  });

  t.test('an abort ends the wait at once, and the exchange', async (t) => {
    const { fetch, Request, asked } = open((method) => (method === 'fetch' ? new Promise(() => undefined) : true));
    const aborter = new AbortController();
    const waiting = fetch('https://a.test/', { signal: aborter.signal });
    await turn();
    aborter.abort(new RangeError('enough'));
    await t.rejects(waiting, RangeError);
    t.strictSame(
      asked.map(({ method, params }) => `${method} ${params.key}`),
      ['fetch 1', 'fetch.abort 1'],
    );

    await t.rejects(fetch('https://a.test/', { signal: AbortSignal.abort() }), { name: 'AbortError' });
    await t.rejects(fetch(new Request('https://a.test/', { signal: aborter.signal })), RangeError);
    t.equal(asked.length, 2, 'what is aborted before is not sent');
    // Node's timeouts do not keep the process alive, and nothing else does here.
    const alive = setInterval(() => undefined, 1000);
    t.teardown(() => clearInterval(alive));
    await t.rejects(fetch('https://a.test/', { signal: AbortSignal.timeout(5) }), { name: 'TimeoutError' });
  });

  t.test('an abort that comes too late does nothing', async (t) => {
    const { fetch, asked } = open();
    const aborter = new AbortController();
    const response = await fetch('https://a.test/', { signal: aborter.signal });
    aborter.abort();
    t.equal(await response.text(), '{"a":1}');
    t.equal(asked.length, 1);
  });

  t.test('what cannot be asked for is a TypeError, and so is a refusal', async (t) => {
    const { fetch } = open(() => {
      throw new TypeError('add the line');
    });
    await t.rejects(fetch('https://a.test/'), { name: 'TypeError', message: 'add the line' });
    await t.rejects(fetch('/relative'), TypeError);
    await t.rejects(fetch('https://a.test/', { integrity: 'sha256-x' }), /integrity/);
    const withBody = { body: 'x' };
    await t.rejects(fetch('https://a.test/', withBody), TypeError);
  });
});

t.test('request', async (t) => {
  const URL_ = 'https://a.test/x?y#z';
  const WITH_BODY = { body: 'other' };
  const shown = (request: Request) => [
    request.url,
    request.method,
    [...request.headers],
    request.redirect,
    request.mode,
    request.credentials,
    request.cache,
    request.integrity,
    request.keepalive,
    request.referrer,
    request.referrerPolicy,
    request.destination,
    request.duplex,
    request.signal.aborted,
    request.body === null,
    request.bodyUsed,
    Object.prototype.toString.call(request),
  ];

  const ATTEMPTS: Record<string, (web: WebApis) => unknown> = {
    defaults: ({ Request }) => shown(new Request(URL_)),
    everything: ({ Request }) =>
      shown(
        new Request(new URL(URL_), {
          method: 'put',
          headers: { a: 'b' },
          body: 'x',
          redirect: 'manual',
          mode: 'same-origin',
          credentials: 'omit',
          cache: 'no-store',
          integrity: 'sha256-x',
          keepalive: true,
        }),
      ),
    methods: ({ Request }) =>
      ['get', 'Post', 'delete', 'OPTIONS', 'own'].map((method) => new Request(URL_, { method }).method),
    'no method': ({ Request }) => new Request(URL_, { method: 'a b' }),
    'a forbidden method': ({ Request }) => new Request(URL_, { method: 'trace' }),
    'a relative URL': ({ Request }) => new Request('/x'),
    credentials: ({ Request }) => new Request('https://user:pass@a.test/'),
    'a body of a GET': ({ Request }) => new Request(URL_, WITH_BODY),
    'a bad redirect': ({ Request }) => new Request(URL_, { redirect: 'x' as never }),
    'a bad mode': ({ Request }) => new Request(URL_, { mode: 'navigate' }),
    'a bad signal': ({ Request }) => new Request(URL_, { signal: {} as never }),
    'bad options': ({ Request }) => new Request(URL_, 7 as never),
    'no signal': ({ Request }) => new Request(URL_, { signal: null }).signal.aborted,
    'an aborted signal': ({ Request }) => {
      const { signal } = new Request(URL_, { signal: AbortSignal.abort('why') });
      return [signal.aborted, signal.reason];
    },
    'a signal that is aborted later': ({ Request }) => {
      const aborter = new AbortController();
      const request = new Request(URL_, { signal: aborter.signal });
      const copy = new Request(request);
      const { signal } = request;
      aborter.abort('why');
      return [signal === aborter.signal, signal.aborted, copy.signal.reason];
    },
    'a request of a request': async ({ Request }) => {
      const original = new Request(URL_, { method: 'POST', body: 'x', headers: { a: 'b' }, redirect: 'error' });
      const copy = new Request(original, { headers: { c: 'd' } });
      return [
        original.bodyUsed,
        copy.method,
        copy.redirect,
        [...copy.headers],
        await copy.text(),
        await outcomeOf(() => new Request(original)),
        await new Request(original, WITH_BODY).text(),
      ];
    },
    'a clone': async ({ Request }) => {
      const original = new Request(URL_, { method: 'POST', body: 'x', headers: { a: 'b' } });
      const copy = original.clone();
      copy.headers.set('a', 'c');
      return [
        original.headers.get('a'),
        await original.text(),
        await copy.text(),
        await outcomeOf(() => original.clone()),
      ];
    },
    'a clone without a body': ({ Request }) => shown(new Request(URL_).clone()),
    'a stream': async ({ Request, ReadableStream }) => {
      const body = () => ReadableStream.from([Uint8Array.of(120)]);
      return [
        await outcomeOf(() => new Request(URL_, { method: 'POST', body: body() as never })),
        await new Request(URL_, { method: 'POST', body: body() as never, duplex: 'half' }).text(),
      ];
    },
    'headers of a body': ({ Request }) => [
      ...new Request(URL_, { method: 'POST', body: new URLSearchParams('a=b') }).headers,
    ],
  };

  t.test('requests do as Node’s', async (t) => {
    const web = guestWeb();
    for (const [name, attempt] of Object.entries(ATTEMPTS)) {
      t.strictSame(await outcomeOf(() => attempt(web)), await outcomeOf(() => attempt(NODE_WEB)), name);
    }
  });

  t.test('an option is asked for once, and no inherited trick is taken for a body of ours', (t) => {
    const { Request } = guestWeb();
    let asked = 0;
    const request = new Request(URL_, {
      get method() {
        asked++;
        return asked === 1 ? 'POST' : 'TRACE';
      },
    });
    t.strictSame([request.method, asked], ['POST', 1]);
    const text = new Request(URL_, {
      method: 'POST',
      body: { content: { whole: () => ({ text: 'forged' }) } } as never,
    });
    t.equal(text.headers.get('content-type'), 'text/plain;charset=UTF-8');
    t.end();
  });
});

t.test('response', async (t) => {
  const shown = (response: Response) => [
    response.type,
    response.url,
    response.redirected,
    response.status,
    response.ok,
    response.statusText,
    [...response.headers],
    response.body === null,
    Object.prototype.toString.call(response),
  ];

  const ATTEMPTS: Record<string, (web: WebApis) => unknown> = {
    defaults: ({ Response }) => shown(new Response()),
    everything: ({ Response }) =>
      shown(new Response('x', { status: 404, statusText: 'Gone Fishing', headers: { a: 'b' } })),
    'a status out of range': ({ Response }) => new Response(null, { status: 199 }),
    'a high status': ({ Response }) => new Response(null, { status: 600 }),
    'a bad status text': ({ Response }) => new Response(null, { statusText: 'a\nb' }),
    'a body where none may be': ({ Response }) => new Response('x', { status: 204 }),
    'no body there': ({ Response }) => shown(new Response(null, { status: 304 })),
    'bad options': ({ Response }) => new Response(null, 7 as never),
    json: async ({ Response }) => {
      const response = Response.json({ a: [1] }, { status: 201, headers: { x: 'y' } });
      return [shown(response), await response.text()];
    },
    'no JSON': ({ Response }) => Response.json(undefined),
    'a cycle': ({ Response }) => {
      const cycle: unknown[] = [];
      cycle.push(cycle);
      return Response.json(cycle);
    },
    error: ({ Response }) => shown(Response.error()),
    redirect: ({ Response }) => shown(Response.redirect('https://a.test/x', 307)),
    'a redirect that is none': ({ Response }) => Response.redirect('https://a.test/x', 200 as never),
    'a redirect to nowhere': ({ Response }) => Response.redirect('not a url'),
    clone: async ({ Response }) => {
      const original = new Response('x', { status: 201, headers: { a: 'b' } });
      const copy = original.clone();
      copy.headers.set('a', 'c');
      return [shown(original), shown(copy), await original.text(), await copy.text()];
    },
  };

  t.test('responses do as Node’s', async (t) => {
    const web = guestWeb();
    for (const [name, attempt] of Object.entries(ATTEMPTS)) {
      t.strictSame(await outcomeOf(() => attempt(web)), await outcomeOf(() => attempt(NODE_WEB)), name);
    }
  });

  t.test('nothing but the standard’s names is on the classes', (t) => {
    const { Response, Request, Blob, Headers } = guestWeb();
    const own = (object: object) =>
      Reflect.ownKeys(object)
        .filter((key) => typeof key === 'string')
        .sort();
    const theirs = { Response, Request, Blob, Headers } as const;
    for (const name of ['Response', 'Request', 'Blob', 'Headers'] as const) {
      const standard = new Set([...own(globalThis[name]), ...own(globalThis[name].prototype)]);
      const extra = [...own(theirs[name]), ...own(theirs[name].prototype)].filter((key) => !standard.has(key));
      t.strictSame(extra, [], name);
    }
    t.end();
  });
});

t.test('body', async (t) => {
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
      return [
        before,
        response.bodyUsed,
        await outcomeOf(() => response.text()),
        await outcomeOf(() => response.clone()),
      ];
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
});

/** Threat: a data URL whose text is broken in every place. */
t.test('data url', async (t) => {
  /** What Node's fetch reads, which is the measure. */
  async function inNode(url: string) {
    try {
      const response = await fetch(url);
      return { type: response.headers.get('content-type'), bytes: [...(await response.bytes())] };
    } catch {
      return null;
    }
  }

  t.test('reads what Node reads', async (t) => {
    for (const url of [
      'data:,a%20b',
      'data:,%zz%4',
      'data:text/plain;base64,YWJj',
      'data:text/plain; base64,YWJj',
      'data:;base64,%59WJ%6a',
      'data:text/html;charset=x,a#hash',
      'data:;charset=utf-8,a',
      'data:nonsense,a',
      'data:text/plain',
      'data:;base64,***',
    ]) {
      const read = readDataUrl(new URL(url).href);
      t.strictSame(read === null ? null : { ...read, bytes: [...read.bytes] }, await inNode(url), url);
    }
  });
});
