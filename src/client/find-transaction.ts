import { allOf } from './all-of.ts';
import type { Schemas } from './api.ts';
import { type ApiClient, ApiError } from './client.ts';
import { patiently } from './patience.ts';

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
