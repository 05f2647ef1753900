import t from 'tap';
import { guestWeb, NODE_WEB, outcomeOf, type WebApis } from '../../../../../support/guest-web.ts';

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
