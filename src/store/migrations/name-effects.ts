import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';

/**
 * Names effects by what they are instead of by their place, with room for what was refused; pins transactions that a key
 * names; counts what is kept.
 */
export async function nameEffects(db: Kysely<Tables>, { text, integer, table }: ColumnTypes): Promise<void> {
  await db.schema.alterTable('effects').renameTo('effects_by_place').execute();
  await db.schema
    .createTable('effects')
    .addColumn('claim_id', text, (column) => column.notNull().references('idempotency_keys.id'))
    .addColumn('payload_hash', text, (column) => column.notNull())
    .addColumn('occurrence', integer, (column) => column.notNull())
    .addColumn('transaction_id', text)
    .addColumn('outcome', text)
    .addColumn('failure', text)
    .addPrimaryKeyConstraint('effects_by_name', ['claim_id', 'payload_hash', 'occurrence'])
    .modifyEnd(table)
    .execute();
  await sql`
    insert into effects (claim_id, payload_hash, occurrence, transaction_id, outcome)
    select claim_id, payload_hash,
      row_number() over (partition by claim_id, payload_hash order by ordinal) - 1, transaction_id, outcome
    from effects_by_place
  `.execute(db);
  await db.schema.dropTable('effects_by_place').execute();

  await db.schema
    .alterTable('transactions')
    .addColumn('pins', integer, (column) => column.notNull().defaultTo(0))
    .execute();
  await sql`
    update transactions
    set pins = (select count(*) from effects where effects.transaction_id = transactions.id)
    where id in (select transaction_id from effects where transaction_id is not null)
  `.execute(db);
  // What is pinned costs a round of pruning nothing, however much there is of it.
  await db.schema.dropIndex('transactions_ended').execute();
  await db.schema
    .createIndex('transactions_ended')
    .on('transactions')
    .column('ended_at')
    .where(sql<boolean>`ended_at is not null and pins = 0`)
    .execute();

  await db.schema
    .alterTable('idempotency_keys')
    .addColumn('kept', integer, (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema
    .createIndex('idempotency_keys_kept')
    .on('idempotency_keys')
    .columns(['scope', 'created_at'])
    .where(sql<boolean>`kept > 0 and state = 'answered'`)
    .execute();
  await db.schema
    .createTable('kept_bytes')
    .addColumn('scope', text, (column) => column.primaryKey().notNull())
    .addColumn('bytes', integer, (column) => column.notNull())
    .modifyEnd(table)
    .execute();
}
