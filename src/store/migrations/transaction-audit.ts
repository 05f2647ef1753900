import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema.ts';

/** The audit tells of transactions, too: what is a change of settings is found among them. */
export async function transactionAudit(db: Kysely<Tables>): Promise<void> {
  await sql`create index audit_records_of_changes on audit_records (position)
    where resource not in ('transaction', 'delivery')`.execute(db);
}
