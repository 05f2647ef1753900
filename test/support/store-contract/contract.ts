import type { Test } from 'tap';
import type { Store } from '../../../src/store/store.ts';
import { attemptsContract } from './attempts.ts';
import { auditContract } from './audit-records.ts';
import { bodiesContract } from './bodies.ts';
import { chainIdentitiesContract } from './chain-identities.ts';
import { decisionsContract } from './decisions.ts';
import { historyContract } from './history.ts';
import { idempotencyContract } from './idempotency.ts';
import { intentsContract } from './intents.ts';
import { kvContract } from './kv.ts';
import { kvLocksContract } from './kv-locks.ts';
import { lanesContract } from './lanes.ts';
import { leasesContract } from './leases.ts';
import { networksContract } from './networks.ts';
import { notificationsContract } from './notifications.ts';
import { outboxContract } from './outbox.ts';
import { pruningContract } from './pruning.ts';
import { relayersContract } from './relayers.ts';
import { settingsLockContract } from './settings-lock.ts';
import { signersContract } from './signers.ts';
import { spendingContract } from './spending.ts';
import { transactionsContract } from './transactions.ts';

/** All that a store promises; `open` gives an empty one and sees to its end. */
export function storeContract(t: Test, open: (t: Test) => Promise<Store>): void {
  relayersContract(t, open);
  transactionsContract(t, open);
  attemptsContract(t, open);
  lanesContract(t, open);
  intentsContract(t, open);
  decisionsContract(t, open);
  chainIdentitiesContract(t, open);
  notificationsContract(t, open);
  networksContract(t, open);
  signersContract(t, open);
  auditContract(t, open);
  settingsLockContract(t, open);
  outboxContract(t, open);
  kvContract(t, open);
  kvLocksContract(t, open);
  idempotencyContract(t, open);
  spendingContract(t, open);
  historyContract(t, open);
  bodiesContract(t, open);
  leasesContract(t, open);
  pruningContract(t, open);
}
