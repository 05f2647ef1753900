import type { Store } from '../store/store.ts';
import type { Ledger } from './lane/ledger.ts';

const BATCH = 500;

/** What a transaction says that a restore ended. */
const GIVEN_UP = 'Restored from a backup: it is not sent, because it may have been sent after the backup was taken';

/**
 * Ends what was accepted and not signed, in the ordinary way: webhooks are told, budgets settled. For a database that
 * nobody else uses. Signed transactions stay: the same bytes go out again.
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
