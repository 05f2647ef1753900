import type { Log } from '../../observability/log.ts';
import type { Store, Writer } from '../../store/store.ts';

type Noted = Parameters<Writer['insertAuditRecord']>[0];

/**
 * Returns the store, extended by a log line for each audit record that it commits. A send has its own log line already.
 */
export function withAuditLog(store: Store, log: Log): Store {
  return {
    ...store,
    async write(body) {
      let noted: Noted[] = [];
      const written = await store.write((writer) => {
        // The store may run the body more than once.
        noted = [];
        const insertAuditRecord = (record: Noted) => {
          noted.push(record);
          return writer.insertAuditRecord(record);
        };
        return body({ ...writer, insertAuditRecord });
      });
      for (const { keyId, requestId, action, resource, resourceId, after } of noted) {
        if (action === 'send') continue;
        const pluginId = after?.['plugin_id'];
        log.info(
          { keyId, requestId, ...(pluginId !== undefined && { pluginId }), action, resource, resourceId },
          'audited',
        );
      }
      return written;
    },
  };
}
