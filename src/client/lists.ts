import type { Schemas } from './api.ts';
import { type ApiClient, ApiError } from './client.ts';

/** The most items that the service returns in one page. */
const PER_PAGE = 500;

interface PageOf<Item> {
  data: Item[];
  pagination: { total_items: number };
}

/** Reads all pages of a list. An item that moves to another page between two reads appears once. */
export async function allOf<Item extends { id: string }>(
  read: (query: { page: number; per_page: number }) => Promise<PageOf<Item>>,
): Promise<Item[]> {
  const all = new Map<string, Item>();
  for (let page = 1, total = 1; (page - 1) * PER_PAGE < total; page += 1) {
    const { data, pagination } = await read({ page, per_page: PER_PAGE });
    for (const one of data) all.set(one.id, one);
    total = pagination.total_items;
  }
  return [...all.values()];
}

const PAUSE_MS = 1_000;

/** The most tries of one request that is refused with 429. */
const TRIES = 30;

/**
 * Repeats a request after a second while it is refused with 429. It is for callers that send a request for each
 * relayer.
 * @throws any other error of the request, or the 429 of the last try
 */
export async function patiently<T>(ask: () => Promise<T>, pauseMs = PAUSE_MS): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 429 || tries >= TRIES) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** A transaction and its relayer. */
export interface FoundTransaction {
  relayerId: string;
  transaction: Schemas['Transaction'];
}

const AT_ONCE = 10;

/**
 * Finds the transactions with an id, a hash or a counter, among the given relayers or all that the key sees. Several
 * relayers may have a transaction with the same counter.
 * @throws ApiError for errors other than "not found", or the error of `fetch` when the service cannot be reached
 */
export async function findTransactions(
  client: ApiClient,
  text: string,
  among?: readonly string[],
): Promise<FoundTransaction[]> {
  const relayerIds = among ?? (await relayersOf(client));
  const found: FoundTransaction[] = [];
  for (let at = 0; at < relayerIds.length; at += AT_ONCE) {
    const asked = relayerIds.slice(at, at + AT_ONCE).map((relayerId) => findUnder(client, relayerId, text.trim()));
    found.push(...(await Promise.all(asked)).flatMap((one) => one ?? []));
  }
  return found;
}

async function relayersOf(client: ApiClient): Promise<string[]> {
  const relayers = await allOf((query) => client.call('listRelayers', { query }));
  return relayers.map(({ id }) => id);
}

async function findUnder(client: ApiClient, id: string, text: string): Promise<FoundTransaction | undefined> {
  const byId = () => client.call('getTransaction', { path: { id, transactionId: text } });
  const byHash = () => client.call('getTransactionByHash', { path: { id, hash: text } });
  const byNonce = () => client.call('getTransactionByNonce', { path: { id, nonce: text } });
  for (const ask of /^\d{1,20}$/.test(text) ? [byNonce] : [byId, byHash]) {
    try {
      return { relayerId: id, transaction: (await patiently(ask)).data };
    } catch (error) {
      // The relayer has no such transaction, or its family has no such counter.
      if (!(error instanceof ApiError) || ![400, 404, 501].includes(error.status)) throw error;
    }
  }
  return undefined;
}
