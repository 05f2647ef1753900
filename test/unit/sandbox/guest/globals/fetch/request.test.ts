import t from 'tap';
import { guestWeb, NODE_WEB, outcomeOf, type WebApis } from '../../../../../support/guest-web.ts';

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
  const text = new Request(URL_, { method: 'POST', body: { content: { whole: () => ({ text: 'forged' }) } } as never });
  t.equal(text.headers.get('content-type'), 'text/plain;charset=UTF-8');
  t.end();
});
