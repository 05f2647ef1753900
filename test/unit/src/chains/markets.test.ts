import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createMarkets } from '../../../../src/chains/markets.ts';
import { createMarketHttp } from '../../../../src/egress/market-client.ts';
import { type Environment, environmentSchema } from '../../../../src/settings/environment.ts';

t.test('create markets', async (t) => {
  const ROUTER = 'CAS3J7GYLGXMF6TDJBBYYSE3HQ6BBSMLNUQ34T6TZMYMW2EVH34XOWMA';

  t.test('each market is asked with its key, and contracts have the names of their variables', async (t) => {
    const seen: unknown[] = [];
    const server = createServer((request, response) => {
      seen.push([request.url, request.headers.authorization, request.headers['x-api-key']]);
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const http = createMarketHttp();
    t.teardown(async () => {
      await http.close();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const environmentOf = (over: object): Environment => ({ ...environmentSchema.parse(over), HOST: '127.0.0.1' });
    const without = createMarkets(environmentOf({}), http);
    t.equal(without.deployments.routes, null);
    t.strictSame(Object.keys(without.deployments.contracts), ['STELLAR_MAINNET_SOROSWAP_ROUTER_ADDRESS']);
    const { market, deployments } = createMarkets(
      environmentOf({
        JUPITER_API_URL: url,
        JUPITER_API_KEY: 'j',
        SOROSWAP_API_URL: url,
        SOROSWAP_API_KEY: 'sk_s',
        STELLAR_TESTNET_SOROSWAP_ROUTER_ADDRESS: ROUTER,
      }),
      http,
    );
    await market.get('/jupiter', {});
    await deployments.routes?.post('/quote?network=testnet', {});
    t.strictSame(seen, [
      ['/jupiter', undefined, 'j'],
      ['/quote?network=testnet', 'Bearer sk_s', undefined],
    ]);
    t.match(deployments.contracts, { STELLAR_TESTNET_SOROSWAP_ROUTER_ADDRESS: ROUTER });
  });
});
