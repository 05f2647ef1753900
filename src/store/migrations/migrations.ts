import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';
import { apiKeys } from './api-keys.ts';
import { audit } from './audit.ts';
import { baseline } from './baseline.ts';
import { networks } from './networks.ts';
import { pluginSettings } from './plugin-settings.ts';
import { relayerBalances } from './relayer-balances.ts';
import { signatureAudit } from './signature-audit.ts';
import { signers } from './signers.ts';
import { transactionAudit } from './transaction-audit.ts';
import { transactionEvents } from './transaction-events.ts';
import { webhookDeliveries } from './webhook-deliveries.ts';
import { webhookSubjects } from './webhook-subjects.ts';

/** One step of the schema. Once released it is never edited: what has to change is the next step. */
export interface Migration {
  name: string;
  up(db: Kysely<Tables>, types: ColumnTypes): Promise<void>;
}

/** All steps; the version of a database is the number of those that it has taken. */
export const migrations: readonly Migration[] = [
  { name: 'baseline', up: baseline },
  { name: 'audit', up: audit },
  { name: 'networks', up: networks },
  { name: 'signers', up: signers },
  { name: 'plugin settings', up: pluginSettings },
  { name: 'API keys', up: apiKeys },
  { name: 'webhook deliveries', up: webhookDeliveries },
  { name: 'relayer balances', up: relayerBalances },
  { name: 'transaction events', up: transactionEvents },
  { name: 'transaction audit', up: transactionAudit },
  { name: 'signature audit', up: signatureAudit },
  { name: 'webhook subjects', up: webhookSubjects },
];
