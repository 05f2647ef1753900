import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { relayerOfService } from '../../../../../src/cli/testing/fake-relayer.ts';

t.test('a relayer of a running service is asked over HTTP', async (t) => {
  const seen: unknown[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      seen.push([request.method, request.url, request.headers.authorization, body]);
      const isRpc = request.url?.endsWith('/rpc') === true;
      if (request.url?.includes('missing') === true) response.statusCode = 404;
      response.end(
        JSON.stringify(isRpc ? { jsonrpc: '2.0', result: '0x1' } : { data: { id: 't' }, error: 'not found' }),
      );
    });
  });
  t.teardown(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const relayer = relayerOfService('r 1', { url: `http://127.0.0.1:${port}`, key: 'k' });
  t.strictSame(await relayer.send?.({ to: 'x' }), { id: 't' });
  t.strictSame(await relayer.transaction?.('t'), { id: 't' });
  t.equal(await relayer.rpc?.('eth_chainId', []), '0x1');
  t.strictSame(await relayer.sign?.({ a: 1 }), { id: 't' });
  t.strictSame(seen[0], ['POST', '/api/v1/relayers/r%201/transactions', 'Bearer k', '{"to":"x"}']);
  t.match(seen[1], ['GET', '/api/v1/relayers/r%201/transactions/t']);
  await t.rejects(Promise.resolve(relayer.transaction?.('missing')), /not found/);
});
