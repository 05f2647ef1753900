import type { WireObject } from '../../domain/json/json.ts';
import type { Page, PageRequest } from '../../domain/page.ts';
import type { AuditFilter, AuditRecord } from '../../domain/settings/audit.ts';
import { wireTime } from '../../domain/wire-time.ts';
import type { Reader } from '../../store/store.ts';

/** Who changed what. */
export interface AuditService {
  /** The latest first. */
  list(page: PageRequest, filter: AuditFilter): Promise<Page<WireObject>>;
}

export function createAuditService(read: Pick<Reader, 'auditRecords'>): AuditService {
  return {
    async list(page, filter) {
      const { items, total } = await read.auditRecords(page, filter);
      return { items: items.map(auditView), total };
    },
  };
}

function auditView(record: AuditRecord): WireObject {
  return {
    id: record.position,
    at: wireTime(record.at),
    key_id: record.keyId,
    request_id: record.requestId,
    action: record.action,
    resource: record.resource,
    resource_id: record.resourceId,
    before: record.before,
    after: record.after,
    secrets: [...record.secrets],
  };
}
