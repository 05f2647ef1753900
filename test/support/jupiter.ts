import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { PublicKey, VersionedTransaction } from '@solana/web3.js';
import type { Test } from 'tap';

const SOL = 'So11111111111111111111111111111111111111112';

/** A stand-in for Jupiter's HTTP API. It has the same formats, and refuses what Jupiter refuses. */
export interface Jupiter {
  readonly url: string;
  /** Every request so far, the path with its query. */
  readonly requests: readonly string[];
  /** The requests to the Swap API for transactions. */
  readonly swaps: readonly Record<string, unknown>[];
  /** Sets how many of a token's smallest unit a lamport is worth; null: the token is not traded. */
  price(mint: string, perLamport: number | null): void;
  /** From now on only requests with this key are served. */
  requireKey(key: string | null): void;
  /** Sets the desk that makes swap transactions. Before that there are none. */
  trade(desk: Desk): void;
  /** Makes the next answers fail in this way. */
  fail(how: 'silence' | 'error' | 'nonsense' | 'limit' | 'other' | null): void;
}

/** A swap of a whole amount for SOL. */
export interface DeskTrade {
  user: string;
  mint: string;
  amount: bigint;
  /** In lamports. */
  out: bigint;
  /** Whether the SOL stays wrapped at the end. */
  staysWrapped: boolean;
}

/** The trader behind the API. */
export interface Desk {
  /** Base64 of the transaction, which its user has not signed. */
  build(trade: DeskTrade): Promise<string>;
  /** Sends a signed transaction to the chain. Resolves with its signature. */
  land(signed: string): Promise<string>;
}

interface State {
  swaps: Record<string, unknown>[];
  desk: Desk | null;
  /** The orders, by their ids. */
  orders: Map<string, string>;
  prices: Map<string, number>;
  key: string | null;
  failure: Parameters<Jupiter['fail']>[0];
}

/** Starts it on a free port of loopback; it ends with the test. */
export async function startJupiter(t: Test): Promise<Jupiter> {
  const state: State = { swaps: [], desk: null, orders: new Map(), prices: new Map(), key: null, failure: null };
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    void serve(state, request, response);
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
    swaps: state.swaps,
    price(mint, perLamport) {
      if (perLamport === null) state.prices.delete(mint);
      else state.prices.set(mint, perLamport);
    },
    requireKey(key) {
      state.key = key;
    },
    trade(desk) {
      state.desk = desk;
    },
    fail(how) {
      state.failure = how;
    },
  };
}

async function serve(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '', 'http://jupiter');
  if (state.failure === 'silence') return;
  if (state.failure === 'error') return answer(response, 500, { error: 'Internal server error' });
  if (state.failure === 'limit') return answer(response, 429, { code: 429, message: 'Too many requests' });
  if (state.failure === 'nonsense') return void response.writeHead(200).end('<html>');
  if (state.key !== null && request.headers['x-api-key'] !== state.key) {
    return answer(response, 401, { code: 401, message: 'Unauthorized' });
  }
  if (request.method === 'GET' && url.pathname === '/swap/v1/quote') return quote(state, url.searchParams, response);
  if (request.method === 'POST' && url.pathname === '/swap/v1/swap') {
    return swap(state, await bodyOf(request), response);
  }
  if (request.method === 'GET' && url.pathname === '/ultra/v1/order') return order(state, url.searchParams, response);
  if (request.method === 'POST' && url.pathname === '/ultra/v1/execute') {
    return execute(state, await bodyOf(request), response);
  }
  return answer(response, 404, { error: 'Not found' });
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  return (await json(request)) as Record<string, unknown>;
}

const LEVELS = ['medium', 'high', 'veryHigh'];

async function swap({ desk, swaps }: State, body: Record<string, unknown>, response: ServerResponse): Promise<void> {
  swaps.push(body);
  const { userPublicKey: user, quoteResponse, wrapAndUnwrapSol = true, prioritizationFeeLamports } = body;
  const { dynamicComputeUnitLimit = false } = body;
  const quoted = quoteResponse as Record<string, unknown> | undefined;
  const unread = (name: string) => answer(response, 422, { error: `Failed to deserialize the JSON body: ${name}` });
  if (typeof user !== 'string' || !isKey(user)) return unread('userPublicKey');
  if (typeof quoted?.['outAmount'] !== 'string' || quoted['routePlan'] === undefined) return unread('quoteResponse');
  if (typeof dynamicComputeUnitLimit !== 'boolean') return unread('dynamicComputeUnitLimit');
  if (prioritizationFeeLamports !== undefined) {
    const { priorityLevelWithMaxLamports: asked } = prioritizationFeeLamports as Record<
      string,
      Record<string, unknown>
    >;
    const isWhole = LEVELS.includes(String(asked?.['priorityLevel'])) && typeof asked?.['maxLamports'] === 'number';
    if (!isWhole) return unread('prioritizationFeeLamports');
  }
  if (desk === null) return answer(response, 500, { error: 'Internal server error' });
  const swapTransaction = await desk.build({
    user,
    mint: String(quoted['inputMint']),
    amount: BigInt(String(quoted['inAmount'])),
    out: BigInt(quoted['outAmount']),
    staysWrapped: wrapAndUnwrapSol === false,
  });
  answer(response, 200, { swapTransaction, lastValidBlockHeight: 0, prioritizationFeeLamports: 0 });
}

async function order(state: State, query: URLSearchParams, response: ServerResponse): Promise<void> {
  const [inputMint, outputMint, amount, taker] = ['inputMint', 'outputMint', 'amount', 'taker'].map((name) =>
    query.get(name),
  );
  if (!isKey(inputMint)) return invalid(response, 'inputMint');
  if (!isKey(outputMint)) return invalid(response, 'outputMint');
  if (!isKey(taker)) return invalid(response, 'taker');
  if (amount == null || !/^\d+$/.test(amount)) return invalid(response, 'amount');
  const out = worth(state, inputMint, outputMint, Number(amount));
  if (out === undefined || out === 0) return answer(response, 400, { error: 'Failed to get quotes' });
  const trade = { user: taker, mint: inputMint, amount: BigInt(amount), out: BigInt(out), staysWrapped: false };
  const transaction = (await state.desk?.build(trade)) ?? null;
  const requestId = randomUUID();
  if (transaction !== null) state.orders.set(requestId, transaction);
  answer(response, 200, {
    inputMint,
    outputMint,
    inAmount: amount,
    outAmount: String(out),
    swapMode: 'ExactIn',
    slippageBps: 50,
    router: 'iris',
    swapType: 'aggregator',
    gasless: false,
    feeBps: 0,
    taker,
    transaction,
    requestId,
  });
}

/** Takes an ordered, signed transaction, as often as it is sent. */
async function execute(
  { desk, orders }: State,
  { signedTransaction, requestId }: Record<string, unknown>,
  response: ServerResponse,
): Promise<void> {
  const ordered = orders.get(String(requestId));
  if (typeof signedTransaction !== 'string' || ordered === undefined || desk === null) {
    return answer(response, 400, { error: 'Invalid request', code: -1, status: 'Failed' });
  }
  const message = (base64: string) =>
    VersionedTransaction.deserialize(Buffer.from(base64, 'base64')).message.serialize();
  if (!Buffer.from(message(signedTransaction)).equals(message(ordered))) {
    return answer(response, 400, { error: 'Invalid signed transaction', code: -3, status: 'Failed' });
  }
  try {
    answer(response, 200, { status: 'Success', code: 0, signature: await desk.land(signedTransaction) });
  } catch (error) {
    answer(response, 200, { status: 'Failed', code: -1000, error: String(error) });
  }
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
    inputMint,
    inAmount: amount,
    outputMint: other,
    outAmount,
    otherAmountThreshold: String(least),
    swapMode: 'ExactIn',
    slippageBps: Number(slippage),
    platformFee: null,
    priceImpactPct: '0',
    routePlan: [{ swapInfo: { label: 'Double', inputMint, inAmount: amount, outputMint, outAmount }, percent: 100 }],
    contextSlot: 1,
    timeTaken: 0.001,
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
