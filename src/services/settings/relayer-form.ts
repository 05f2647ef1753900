import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import type { AuditedChange } from '../../domain/settings/audit.ts';
import type { Reader } from '../../store/store.ts';

const LONGEST_NAME = 256;

/** The name of a relayer, as bodies have it. */
export const relayerNameSchema = z
  .string()
  .min(1, 'Name cannot be empty')
  .max(LONGEST_NAME, `must have at most ${LONGEST_NAME} characters`);

/** @throws AppError `NOTIFICATION_NOT_FOUND` */
export async function checkNotification(
  read: Pick<Reader, 'notification'>,
  id: string | null | undefined,
): Promise<void> {
  if (id == null || (await read.notification(id)) !== undefined) return;
  throw new AppError('NOTIFICATION_NOT_FOUND', { id });
}

/** What the audit says of a change of a relayer; `isMoved`: its endpoints, which are hidden in part, changed. */
export function relayerAudit(
  action: AuditedChange['action'],
  resourceId: string,
  views: Pick<AuditedChange, 'before' | 'after'>,
  isMoved = false,
): AuditedChange {
  return { action, resource: 'relayer', resourceId, ...views, secrets: isMoved ? ['custom_rpc_urls'] : [] };
}
