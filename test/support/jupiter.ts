import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PublicKey } from '@solana/web3.js';
import type { Test } from 'tap';

const SOL = 'So11111111111111111111111111111111111111112';

/** A stand-in for Jupiter's HTTP API: it speaks its forms, and refuses what that refuses. */
export interface Jupiter {
  readonly url: string;
  /** Every request so far, the path with its query. */
  readonly requests: readonly string[];
  /** So many of a token's smallest unit a lamport is worth from now on; null: nobody trades it. */
  price(mint: string, perLamport: number | null): void;
  /** From now on only requests with this key are served. */
  requireKey(key: string | null): void;
  /** The next answers do not come, or are something else. */
  fail(how: 'silence' | 'error' | 'nonsense' | 'limit' | 'other' | null): void;
}

interface State {
  prices: Map<string, number>;
  key: string | null;
  failure: Parameters<Jupiter['fail']>[0];
}

/** Starts it on a free port of loopback; it ends with the test. */
export async function startJupiter(t: Test): Promise<Jupiter> {
  const state: State = { prices: new Map(), key: null, failure: null };
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    serve(state, request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    price(mint, perLamport) {
      if (perLamport === null) state.prices.delete(mint);
      else state.prices.set(mint, perLamport);
    },
    requireKey(key) {
      state.key = key;
    },
    fail(how) {
      state.failure = how;
    },
  };
}

function serve(state: State, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '', 'http://jupiter');
  if (state.failure === 'silence') return;
  if (state.failure === 'error') return answer(response, 500, { error: 'Internal server error' });
  if (state.failure === 'limit') return answer(response, 429, { code: 429, message: 'Too many requests' });
  if (state.failure === 'nonsense') return void response.writeHead(200).end('<html>');
  if (state.key !== null && request.headers['x-api-key'] !== state.key) {
    return answer(response, 401, { code: 401, message: 'Unauthorized' });
  }
  if (request.method === 'GET' && url.pathname === '/swap/v1/quote') return quote(state, url.searchParams, response);
  return answer(response, 404, { error: 'Not found' });
}

function quote(state: State, query: URLSearchParams, response: ServerResponse): void {
  const [inputMint, outputMint, amount] = ['inputMint', 'outputMint', 'amount'].map((name) => query.get(name));
  if (!isKey(inputMint)) return invalid(response, 'inputMint');
  if (!isKey(outputMint)) return invalid(response, 'outputMint');
  if (amount == null || !/^\d+$/.test(amount)) return invalid(response, 'amount');
  const slippage = query.get('slippageBps') ?? '50';
  if (!/^\d{1,5}$/.test(slippage)) return invalid(response, 'slippageBps');
  if (inputMint === outputMint) {
    const error = 'Circular arbitrage is disabled';
    return answer(response, 400, { error, errorCode: 'CIRCULAR_ARBITRAGE_IS_DISABLED' });
  }
  const out = worth(state, inputMint, outputMint, Number(amount));
  if (out === undefined) {
    const mint = inputMint === SOL ? outputMint : inputMint;
    return answer(response, 400, { error: `The token ${mint} is not tradable`, errorCode: 'TOKEN_NOT_TRADABLE' });
  }
  if (out === 0) {
    return answer(response, 400, { error: 'Could not find any route', errorCode: 'COULD_NOT_FIND_ANY_ROUTE' });
  }
  const outAmount = String(out);
  const least = Math.floor(out * (1 - Number(slippage) / 10_000));
  const other = state.failure === 'other' ? SOL : outputMint;
  answer(response, 200, {
    ...{ inputMint, inAmount: amount, outputMint: other, outAmount, otherAmountThreshold: String(least) },
    ...{ swapMode: 'ExactIn', slippageBps: Number(slippage), platformFee: null, priceImpactPct: '0' },
    routePlan: [{ swapInfo: { label: 'Double', inputMint, inAmount: amount, outputMint, outAmount }, percent: 100 }],
    ...{ contextSlot: 1, timeTaken: 0.001 },
  });
}

function worth({ prices }: State, input: string, output: string, amount: number): number | undefined {
  if (input === SOL) {
    const price = prices.get(output);
    return price === undefined ? undefined : Math.floor(amount * price);
  }
  const price = prices.get(input);
  return price === undefined || output !== SOL ? undefined : Math.floor(amount / price);
}

function isKey(text: string | null | undefined): text is string {
  try {
    return text != null && new PublicKey(text).toBytes().length === 32;
  } catch {
    return false;
  }
}

function invalid(response: ServerResponse, name: string): void {
  answer(response, 400, { error: `Query parameter ${name} cannot be parsed: invalid` });
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
