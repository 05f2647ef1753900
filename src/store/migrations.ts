import type { Kysely } from 'kysely';
import type { ColumnTypes } from './column-types.ts';
import { countRequests } from './migrations/count-requests.ts';
import { dateSettlements } from './migrations/date-settlements.ts';
import { indexFillers } from './migrations/index-fillers.ts';
import { knowInstances } from './migrations/know-instances.ts';
import { limitSpending } from './migrations/limit-spending.ts';
import { lockAndBoundValues } from './migrations/lock-and-bound-values.ts';
import { nameEffects } from './migrations/name-effects.ts';
import { nameTakers } from './migrations/name-takers.ts';
import { notify } from './migrations/notify.ts';
import { pageByStatus } from './migrations/page-by-status.ts';
import { relayAndKeep } from './migrations/relay-and-keep.ts';
import { rememberAnswers } from './migrations/remember-answers.ts';
import { replaceAndCancel } from './migrations/replace-and-cancel.ts';
import { sealAddresses } from './migrations/seal-addresses.ts';
import { shareAndPrune } from './migrations/share-and-prune.ts';
import type { Tables } from './schema.ts';

/** One step of the schema. Once released it is never edited: what has to change is the next step. */
export interface Migration {
  name: string;
  up(db: Kysely<Tables>, types: ColumnTypes): Promise<void>;
}

/** All steps; the version of a database is the number of those that it has taken. */
export const migrations: readonly Migration[] = [
  { name: 'relay transactions and keep values', up: relayAndKeep },
  { name: 'notify', up: notify },
  { name: 'share and prune', up: shareAndPrune },
  { name: 'count requests', up: countRequests },
  { name: 'replace and cancel', up: replaceAndCancel },
  { name: 'remember answers', up: rememberAnswers },
  { name: 'limit spending', up: limitSpending },
  { name: 'lock and bound values', up: lockAndBoundValues },
  { name: 'name takers', up: nameTakers },
  { name: 'date settlements', up: dateSettlements },
  { name: 'seal addresses', up: sealAddresses },
  { name: 'name effects', up: nameEffects },
  { name: 'index fillers', up: indexFillers },
  { name: 'know instances', up: knowInstances },
  { name: 'page by status', up: pageByStatus },
];
