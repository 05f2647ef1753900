import { type Kysely, sql } from 'kysely';
import { z } from 'zod';
import type { Tables } from '../schema.ts';
import { databaseErrorReason, isConnectionTrouble } from './postgres-errors.ts';

/** The values of `synchronous_commit` with which a commit is on disk when it is answered. */
type DurableCommit = 'on' | 'remote_write' | 'remote_apply';

/** What the server does with a commit, as far as it can lose one. */
export interface Durability {
  /** The server's own setting where it is durable, else `on`. Every write sets it. */
  commit: DurableCommit;
  /** What the service overrides: told once, at the start. */
  overridden: string[];
  /** What only the operator can change, and what it can lose. */
  warnings: string[];
}

const settingsSchema = z.strictObject({
  commit: z.string().nullable(),
  fsync: z.string().nullable(),
  pages: z.string().nullable(),
  synchronous: z.string().nullable(),
  standbys: z.number(),
  unlogged: z.string().nullable(),
});

/** Tables that a crash of the database may empty. */
const UNLOGGED = ['rate_buckets', 'instances'];

/**
 * Reads the settings that decide whether a commit survives a crash of the server: those of the configuration, the
 * database, the role and the URL together (https://www.postgresql.org/docs/current/runtime-config-wal.html). A server
 * that speaks only PostgreSQL's protocol may know none of them.
 */
export async function readDurability(db: Kysely<Tables>): Promise<Durability> {
  try {
    const { rows } = await sql`
      select
        current_setting('synchronous_commit', true) as commit,
        current_setting('fsync', true) as fsync,
        current_setting('full_page_writes', true) as pages,
        current_setting('synchronous_standby_names', true) as synchronous,
        (
          select count(*) from pg_stat_replication
          where state is distinct from 'backup'
            and pid not in (select active_pid from pg_replication_slots where slot_type = 'logical' and active_pid is not null)
        ) as standbys,
        (
          select string_agg(relname, ', ' order by relname) from pg_class
          where relpersistence = 'u' and relkind = 'r' and relname not in (${sql.join(UNLOGGED.map((name) => sql.lit(name)))})
            and relnamespace = (select relnamespace from pg_class where oid = 'meta'::regclass)
        ) as unlogged
    `.execute(db);
    return judge(settingsSchema.parse(rows[0]));
  } catch (cause) {
    if (isConnectionTrouble(cause)) throw cause;
    const warnings = [`The database does not tell whether it keeps what it commits: ${databaseErrorReason(cause)}`];
    return { commit: 'on', overridden: [], warnings };
  }
}

function judge(settings: z.infer<typeof settingsSchema>): Durability {
  const { commit, fsync, pages, synchronous, standbys, unlogged } = settings;
  const isWeak = commit === 'off' || commit === 'local';
  const overridden = isWeak
    ? [`synchronous_commit is ${commit}, which can lose what was accepted: the service sets it to on for its writes`]
    : [];
  const warnings: string[] = [];
  if (fsync === 'off') {
    warnings.push('fsync is off: a crash of the machine loses what was accepted, and can damage the database');
  }
  if (pages === 'off') {
    warnings.push(
      'full_page_writes is off: a crash of the machine can damage the database, unless its file system never writes half a page, as ZFS',
    );
  }
  if (unlogged !== null) {
    warnings.push(`These tables are unlogged, and a crash of the database empties them: ${unlogged}`);
  }
  if (standbys > 0 && synchronous === '') {
    warnings.push(
      'The standby is asynchronous: if it takes over, it lacks the last commits, and so what was accepted. Set synchronous_standby_names',
    );
  }
  return { commit: commit === 'remote_write' || commit === 'remote_apply' ? commit : 'on', overridden, warnings };
}
