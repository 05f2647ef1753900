import type { WireObject } from '../../domain/json/json.ts';
import type { ListPart, ListPartRequest } from '../../domain/page.ts';
import { wireTime } from '../../domain/wire-time.ts';
import type { StoreReader } from '../../store/store.ts';
import type { AuditFilter, AuditRecord } from './record.ts';

/** The audit records. */
export interface AuditService {
  /** The latest first. */
  list(part: ListPartRequest, filter: AuditFilter): Promise<ListPart<WireObject>>;
}

export function createAuditService(read: Pick<StoreReader, 'auditRecords'>): AuditService {
  return {
    async list(part, filter) {
      const { items, next } = await read.auditRecords(part, filter);
      return { items: items.map(auditView), next };
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
