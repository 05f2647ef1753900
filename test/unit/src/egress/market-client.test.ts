import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { createMarketClient, createMarketHttp, MarketFailure } from '../../../../src/egress/market-client.ts';

/** A market server with this behaviour, and the requests that reach it. */
async function marketOf(t: Test, listener: RequestListener, apiKey?: string) {
  const seen: { method?: string | undefined; url?: string | undefined; key: unknown; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      seen.push({ method: request.method, url: request.url, key: request.headers['x-api-key'], body });
      listener(request, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const http = createMarketHttp();
  t.teardown(async () => {
    await http.close();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`;
  return { market: createMarketClient({ url, apiKey, keyName: 'THE_KEY', http, timeoutMs: 300 }), seen, server };
}

t.test('questions have their query and the key, orders their body', async (t) => {
  const { market, seen } = await marketOf(t, (_request, response) => response.end('{"a":1}'), 'secret');
  t.strictSame(await market.get('/quote', { amount: '1', mint: 'a b' }), { a: 1 });
  t.strictSame(await market.post('/swap', { b: 2 }), { a: 1 });
  t.strictSame(seen, [
    { method: 'GET', url: '/base/quote?amount=1&mint=a+b', key: 'secret', body: '' },
    { method: 'POST', url: '/base/swap', key: 'secret', body: '{"b":2}' },
  ]);
});

t.test('without a key none is sent', async (t) => {
  const { market, seen } = await marketOf(t, (_request, response) => response.end('[]'));
  t.strictSame(await market.get('/quote', {}), []);
  t.equal(seen[0]?.key, undefined);
});

t.test('a refusal is told in the market’s words, as far as they are short', async (t) => {
  const refusals: [number, unknown, object][] = [
    [
      400,
      { error: 'The token x is not tradable', errorCode: 'TOKEN_NOT_TRADABLE' },
      { message: 'it answered with status 400: The token x is not tradable', code: 'TOKEN_NOT_TRADABLE' },
    ],
    [429, { code: 429, message: 'slow down' }, { message: 'it answered with status 429: slow down', code: undefined }],
    [502, '<html>', { message: 'it answered with status 502' }],
    [500, { error: 'x'.repeat(5_000), errorCode: 7 }, { message: /^.{200,240}$/, code: undefined }],
  ];
  for (const [status, body, failure] of refusals) {
    const { market } = await marketOf(t, (_request, response) =>
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body)),
    );
    await t.rejects(market.get('/quote', {}), { name: 'MarketFailure', ...failure });
  }
});

t.test('a redirect is not followed, and is told with its host', async (t) => {
  const { market } = await marketOf(t, (_request, response) =>
    response.writeHead(308, { location: 'https://elsewhere.example/secret' }).end(),
  );
  const message =
    /^it answered with status 308 \(a redirect to https:\/\/elsewhere\.example: redirects are not followed/;
  await t.rejects(market.get('/quote', {}), { name: 'MarketFailure', message });
});

t.test('who has no key and is asked for one is told which variable takes it', async (t) => {
  const refusing = async (status: number, apiKey?: string) => {
    const { market } = await marketOf(t, (_request, response) => response.writeHead(status).end(), apiKey);
    return market.get('/quote', {}).catch(({ message }) => message);
  };
  const advice = '; it asks for a key: set THE_KEY';
  t.equal(await refusing(401), `it answered with status 401${advice}`);
  t.equal(await refusing(403), `it answered with status 403${advice}`);
  t.equal(await refusing(500), 'it answered with status 500');
  t.equal(await refusing(401, 'wrong'), 'it answered with status 401');
});

t.test('no answer, and one that is not JSON, are failures', async (t) => {
  const silent = await marketOf(t, () => {});
  await t.rejects(silent.market.get('/quote', {}), { name: 'MarketFailure', message: 'no answer within 300 ms' });
  const page = await marketOf(t, (_request, response) => response.end('<html>'));
  await t.rejects(page.market.get('/quote', {}), new MarketFailure('its answer is not JSON'));
  const fault = new Error('a fault of ours');
  const broken = { get: () => Promise.reject(fault), post: () => Promise.reject(fault) };
  await t.rejects(createMarketClient({ url: 'http://x', apiKey: undefined, http: broken }).get('/quote', {}), fault);
});
