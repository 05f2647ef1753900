import type { Store } from '../store/store.ts';
import type { Ledger } from './lane/ledger.ts';

const BATCH = 500;

/** The status reason of a transaction that a restore ended. */
const GIVEN_UP = 'Restored from a backup: it is not sent, because it may have been sent after the backup was taken';

/**
 * Ends all transactions that were accepted and not signed as failed. Webhooks and budgets are updated as usual. Nothing
 * else may use the database at the same time. Signed transactions stay: their same bytes go out again.
 */
export async function failUnsigned(store: Pick<Store, 'read'>, ledger: Ledger): Promise<void> {
  for (;;) {
    const unsigned = await store.read.unsigned(BATCH);
    if (unsigned.length === 0) return;
    await ledger.apply(
      unsigned.map((transaction) => ({
        transaction,
        set: { status: 'failed', statusReason: GIVEN_UP, nextActionAt: null },
      })),
    );
  }
}
