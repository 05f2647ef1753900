import type { Chain } from '../chains/chain.ts';
import type { JsonObject } from '../domain/json.ts';
import { DuplicateRecord } from '../store/stored-record.ts';

/** As often as a chain may have been started anew with the same history. */
const MOST_VARIATIONS = 32;

/**
 * Signs and stores a version. Where the store holds those very bytes from an earlier life of the chain (one for
 * development, that was started anew and repeats itself), it is tried with others that mean the same.
 */
export async function storeUnlike<T>(
  chain: Pick<Chain, 'vary'>,
  fields: JsonObject,
  signAndStore: (fields: JsonObject) => Promise<T>,
): Promise<T> {
  let varied = fields;
  for (let left = MOST_VARIATIONS; ; left -= 1) {
    try {
      return await signAndStore(varied);
    } catch (error) {
      if (!(error instanceof DuplicateRecord) || left === 0) throw error;
      varied = chain.vary(varied);
    }
  }
}
