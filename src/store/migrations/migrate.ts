import type { Kysely } from 'kysely';
import type { Log } from '../../observability/log.ts';
import type { ColumnTypes } from '../column-types.ts';
import type { Tables } from '../schema.ts';
import type { Migration } from './migrations.ts';

/**
 * What {@link migrate} needs. The caller makes sure that no other process migrates the same database at the same time.
 */
export interface MigrationTarget {
  db: Kysely<Tables>;
  types: ColumnTypes;
  log: Log;
  now: () => number;
}

/**
 * Brings a database to the newest version. Each step runs in one transaction together with its record.
 * @throws when the database has taken steps that this version of the service does not know
 */
export async function migrate(target: MigrationTarget, steps: readonly Migration[]): Promise<void> {
  const { db } = target;
  await db.schema
    .createTable('migrations')
    .ifNotExists()
    .addColumn('version', target.types.integer, (column) => column.primaryKey().notNull())
    .addColumn('name', target.types.text, (column) => column.notNull())
    .addColumn('applied_at', target.types.integer, (column) => column.notNull())
    .modifyEnd(target.types.table)
    .execute();

  const taken = await db.selectFrom('migrations').select(['version', 'name']).orderBy('version').execute();
  assertKnownSteps(taken, steps);

  for (const [index, step] of steps.entries()) {
    if (index < taken.length) continue;
    const version = index + 1;
    await db.transaction().execute(async (transaction) => {
      await step.up(transaction, target.types);
      await transaction
        .insertInto('migrations')
        .values({ version, name: step.name, applied_at: target.now() })
        .execute();
    });
    target.log.debug({ version, step: step.name }, 'database step taken');
  }
  const [from, to] = [taken.length, steps.length];
  if (to > from) target.log.info({ from, to }, 'database migrated');
}

/** @throws when the steps that a database has taken are not the first steps that this version knows */
export function assertKnownSteps(
  taken: readonly { version: number; name: string }[],
  steps: readonly Pick<Migration, 'name'>[],
): void {
  for (const [index, { version, name }] of taken.entries()) {
    if (version !== index + 1 || name !== steps[index]?.name) throw new Error(whyNot(version, name, steps.length));
  }
}

function whyNot(version: number, name: string, known: number): string {
  return version > known
    ? `The database is of a newer version (schema ${version}, "${name}") than this Isolayer, which knows schema ${known}. Start the newer version, or restore a backup made before the upgrade.`
    : `The database was not made by this Isolayer: its schema ${version} is "${name}".`;
}
