import t from 'tap';
import type { FetchParams, FetchReply } from '../../../../../../sandbox/capability-contract.ts';
import type { AskForFetch } from '../../../../../../sandbox/guest/globals/fetch/fetch.ts';
import { guestWeb } from '../../../../../support/guest-web.ts';

const REPLY: FetchReply = {
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
  return { asked, ...guestWeb(ask as unknown as AskForFetch) };
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
