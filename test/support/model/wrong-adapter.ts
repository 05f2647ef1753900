import type { ChainClient, ReplacementPreparation } from '../../../src/chains/chain-client.ts';
import type { JsonObject } from '../../../src/domain/json/json.ts';
import { anchorsConflict } from '../../../src/features/transactions/records/anchor.ts';
import type { Attempt } from '../../../src/features/transactions/records/attempt.ts';
import { NoConflict } from '../../../src/store/tables/stored-record.ts';
import { changed, writingOtherwise } from './mutants.ts';
import type { Mutant } from './world.ts';

/** What an adapter tried that could have paid twice. */
export interface Watched {
  /** Stored attempts, although another attempt of the same transaction could also execute. */
  readonly stored: Attempt[];
  /** The number of refused attempts. */
  refused: number;
}

/**
 * A wrong adapter of a chain without an order. It claims that it can replace transactions, but each further attempt
 * could execute in addition to the earlier ones. Also returns how the store reacted.
 */
export function wrongAdapter(): { adapter: Mutant; watched: Watched } {
  const watched: Watched = { stored: [], refused: 0 };
  const adapter: Mutant = {
    name: 'an adapter replaces what it cannot',
    showsIn: [],
    client: (client) => changed<ChainClient>(client, { replacement: replacementOf(client) }),
    store: (store) =>
      writingOtherwise(store, (writer) => ({
        async insertAttempt(attempt: Attempt) {
          const earlier = await writer.attempts(attempt.transactionId);
          try {
            await writer.insertAttempt(attempt);
          } catch (error) {
            if (error instanceof NoConflict) watched.refused += 1;
            throw error;
          }
          const isRival = (one: Attempt) => one.deadAt === null && !anchorsConflict(one.anchor, attempt.anchor);
          if (earlier.some(isRival)) watched.stored.push(attempt);
        },
      })),
  };
  return { adapter, watched };
}

function replacementOf(client: ChainClient): NonNullable<ChainClient['replacement']> {
  let variations = 1_000;
  return {
    can: () => true,
    check: () => {},
    patienceMs: () => 1,
    async prepare({ transaction }, wanted): Promise<ReplacementPreparation> {
      const request: JsonObject = wanted.purpose === 'replace' ? wanted.request : transaction.request;
      const prepared = await client.prepare({ ...transaction, request }, account, { committed: 0n });
      if (prepared.kind !== 'ready') return { kind: 'refused', reason: 'not now' };
      variations += 1;
      return { ...prepared, request, fields: { ...prepared.fields, variation: variations } };
    },
  };
}

/** The fake chains ignore the account. */
const account = { address: '', policies: {} };
