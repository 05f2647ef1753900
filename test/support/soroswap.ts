import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { StrKey } from '@stellar/stellar-sdk';
import type { Test } from 'tap';

/** Makes the false answers that replace true ones. */
export type SoroswapLie = (quote: Quote) => object;

/** A stand-in for Soroswap's HTTP API. It has the same formats, and refuses what Soroswap refuses. */
export interface Soroswap {
  readonly url: string;
  /** The only API key that is served. */
  readonly key: string;
  /** Bodies of all quotes that were asked for. */
  readonly asked: readonly object[];
  /** Sets how much of one contract's token another's gives, and by which path; null: it is not traded. */
  trade(from: string, to: string, how: { way: readonly string[]; out(amount: bigint): bigint } | null): void;
  lie(how: SoroswapLie | null): void;
  /** Makes answers fail: none come, or they are those of a gateway. */
  fail(how: 'silence' | 'gateway' | null): void;
}

interface Quote {
  assetIn: string;
  amountIn: string;
  assetOut: string;
  amountOut: string;
  rawTrade: { amountIn: string; amountOutMin: string; path?: string[]; distribution?: object[] };
}

const PROTOCOLS = ['soroswap', 'phoenix', 'aqua', 'comet', 'sushi', 'sdex'];

/** Starts it on a free port of loopback; it ends with the test. */
export async function startSoroswap(t: Test): Promise<Soroswap> {
  const key = 'sk_of_the_tests';
  const ways = new Map<string, { way: readonly string[]; out(amount: bigint): bigint }>();
  const asked: object[] = [];
  let lie: SoroswapLie | null = null;
  let failure: 'silence' | 'gateway' | null = null;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (failure === 'silence') return;
    if (failure === 'gateway') return void response.writeHead(502).end('<html>');
    const url = new URL(request.url ?? '', 'http://soroswap');
    if (request.headers.authorization !== `Bearer ${key}`) return refuse(response, 403, 'Invalid API key');
    if (request.method !== 'POST' || url.pathname !== '/quote') return refuse(response, 404, `Cannot ${url.pathname}`);
    if (!['mainnet', 'testnet'].includes(url.searchParams.get('network') ?? '')) {
      return refuse(response, 400, 'network must be one of the following values: mainnet, testnet');
    }
    const body = (await json(request)) as Record<string, unknown>;
    asked.push(body);
    const fault = faultOf(body);
    if (fault !== undefined) return refuse(response, 400, fault);
    const [assetIn, assetOut, amount] = [body['assetIn'], body['assetOut'], body['amount']].map(String) as [
      string,
      string,
      string,
    ];
    const found = ways.get(`${assetIn} ${assetOut}`);
    if (found === undefined) return refuse(response, 400, 'No path found');
    const quote = quoteOf({ assetIn, assetOut, amount: BigInt(amount) }, found);
    answer(response, 201, lie === null ? quote : lie(quote));
  }

  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key,
    asked,
    trade(from, to, how) {
      if (how === null) ways.delete(`${from} ${to}`);
      else ways.set(`${from} ${to}`, how);
    },
    lie(how) {
      lie = how;
    },
    fail(how) {
      failure = how;
    },
  };
}

function faultOf({ assetIn, assetOut, amount, tradeType, protocols, parts }: Record<string, unknown>) {
  if (!isContract(assetIn)) return 'assetIn must be a valid contract address';
  if (!isContract(assetOut)) return 'assetOut must be a valid contract address';
  if (assetIn === assetOut) return 'assetIn and assetOut must be different';
  if (!/^[1-9]\d*$/.test(String(amount))) return 'amount must be a positive integer';
  if (tradeType !== 'EXACT_IN' && tradeType !== 'EXACT_OUT') return 'tradeType must be EXACT_IN or EXACT_OUT';
  const isList = Array.isArray(protocols) && protocols.length > 0 && protocols.every((one) => PROTOCOLS.includes(one));
  if (!isList) return 'each value in protocols must be a known protocol';
  return parts === undefined || (Number.isInteger(parts) && Number(parts) > 0) ? undefined : 'parts must be positive';
}

function quoteOf(
  { assetIn, assetOut, amount }: { assetIn: string; assetOut: string; amount: bigint },
  { way, out }: { way: readonly string[]; out(amount: bigint): bigint },
) {
  const amountOut = out(amount);
  const least = String((amountOut * 9_950n) / 10_000n);
  return {
    assetIn,
    amountIn: String(amount),
    assetOut,
    amountOut: String(amountOut),
    otherAmountThreshold: least,
    priceImpactPct: '0.01',
    tradeType: 'EXACT_IN',
    platform: 'router',
    rawTrade: { amountIn: String(amount), amountOutMin: least, path: [...way] },
    routePlan: [{ swapInfo: { protocol: 'soroswap', path: [...way] }, percent: '100.00' }],
  };
}

const isContract = (text: unknown): boolean => typeof text === 'string' && StrKey.isValidContract(text);

function refuse(response: ServerResponse, statusCode: number, message: string): void {
  answer(response, statusCode, { statusCode, message, error: statusCode === 403 ? 'Forbidden' : 'Bad Request' });
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
