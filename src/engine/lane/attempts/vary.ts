import type { Chain } from '../../../chains/chain.ts';
import type { JsonObject } from '../../../domain/json/json.ts';
import { DuplicateRecord } from '../../../store/tables/stored-record.ts';

/** The most equal payments that may be under way at once. */
const MAX_VARIATIONS = 32;

/**
 * Signs and stores an attempt. If the store has the same bytes already, from an equal payment, it tries other bytes
 * that mean the same: two payments must not become one.
 */
export async function storeVaried<T>(
  chain: Pick<Chain, 'vary'>,
  fields: JsonObject,
  signAndStore: (fields: JsonObject) => Promise<T>,
): Promise<T> {
  let varied = fields;
  for (let left = MAX_VARIATIONS; ; left -= 1) {
    try {
      return await signAndStore(varied);
    } catch (error) {
      if (!(error instanceof DuplicateRecord) || left === 0) throw error;
      varied = chain.vary(varied);
    }
  }
}
