import { z } from 'zod';
import type { WireObject } from '../../domain/json/json.ts';
import { RESOURCE_PATHS, type ResourceName } from '../api-keys/records/access.ts';
import type { Timestamp } from '../transactions/records/transaction.ts';

/** What clients can change or ask for, as audit records name it. */
export const auditedResourceSchema = z.enum([
  ...new Set([
    ...(['relayer', 'notification', 'delivery', 'transaction', 'network', 'signer', 'plugin', 'api_key'] as const),
    ...(['signature', ...Object.keys(RESOURCE_PATHS)] as ('signature' | ResourceName)[]),
  ]),
]);

export const auditActionSchema = z.enum([
  'create',
  'update',
  'delete',
  'redeliver',
  'send',
  'replace',
  'cancel',
  'sign',
  'pass',
]);

/** What a change did to one resource. */
export interface AuditedChange {
  action: z.infer<typeof auditActionSchema>;
  resource: z.infer<typeof auditedResourceSchema>;
  resourceId: string;
  /** The resource as answers show it, so without secrets; null where there was none. */
  before: WireObject | null;
  /** The same after the change; null where it is gone. */
  after: WireObject | null;
  /** The fields that no answer shows and that the change set or removed. */
  secrets?: readonly string[];
}

/** A stored change, with who made it. */
export interface AuditRecord extends Required<AuditedChange> {
  /** Rises with each record. */
  position: number;
  at: Timestamp;
  keyId: string;
  requestId: string;
}

/** Which records are asked for; an absent field matches anything. */
export interface AuditFilter {
  resource?: AuditRecord['resource'] | undefined;
  resourceId?: string | undefined;
  /** Done with this key. */
  keyId?: string | undefined;
}
