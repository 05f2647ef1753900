import { type Kysely, sql } from 'kysely';
import { networkRecord } from '../../features/networks/record.ts';
import { pluginSettingsRecord } from '../../features/plugins/records/plugin-settings.ts';
import { relayerRecord } from '../../features/relayers/records/relayer.ts';
import { signerRecord } from '../../features/signers/record.ts';
import { newRevision } from '../../features/transactions/tables/record-cache.ts';
import { notificationRecord } from '../../features/webhooks/records/notification.ts';
import type { Log } from '../../observability/log.ts';
import type { Tables } from '../schema.ts';
import { type Sealer, UnsealableSecret } from '../sealing.ts';
import { sealedPlaceOf } from './stored-record.ts';

const RECORDS = [notificationRecord, relayerRecord, networkRecord, signerRecord, pluginSettingsRecord];

/**
 * Seals all secrets anew that are sealed under an older key, so that the key can be retired after one start. Also seals
 * what an earlier version stored of notifications in clear text. A signer's secret that cannot be opened stays as it
 * is: it stops only the relayers of its signer.
 */
export async function resealSettings(db: Kysely<Tables>, sealer: Sealer, log: Log): Promise<void> {
  for (const { table, key, sealed } of RECORDS) {
    const columns = sql.join([...key, ...sealed].map((name) => sql.ref(name)));
    const { rows } = await sql<Record<string, string | null>>`select ${columns} from ${sql.table(table)}`.execute(db);
    const isRevised = table === relayerRecord.table;
    for (const row of rows) {
      const here = sql.join(
        key.map((name) => sql`${sql.ref(name)} = ${row[name]}`),
        sql` and `,
      );
      for (const field of sealed) {
        const text = row[field];
        if (text == null || !sealer.isOutdated(text)) continue;
        const place = sealedPlaceOf({ table, key, sealed }, row, field);
        // Only notifications were once stored in clear text. Any other such text was put there by somebody else.
        const isClear = table === notificationRecord.table && !sealer.isSealed(text);
        try {
          const secret = sealer.seal(isClear ? text : sealer.open(text, place), place);
          const revision = isRevised ? sql`, revision = ${newRevision()}` : sql``;
          await sql`update ${sql.table(table)} set ${sql.ref(field)} = ${secret}${revision} where ${here}`.execute(db);
        } catch (err) {
          if (table !== signerRecord.table || !(err instanceof UnsealableSecret)) throw err;
          log.error({ err, signer: row['id'] }, 'a stored signer cannot be opened: its relayers sign nothing');
        }
      }
    }
  }
}
