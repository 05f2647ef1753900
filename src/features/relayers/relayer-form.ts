import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import type { StoreReader } from '../../store/store.ts';
import type { Caller } from '../api-keys/records/caller.ts';
import type { AuditedChange } from '../audit/record.ts';

const MAX_NAME = 256;

/** The name of a relayer, as bodies have it. */
export const relayerNameSchema = z
  .string()
  .min(1, 'Name cannot be empty')
  .max(MAX_NAME, `must have at most ${MAX_NAME} characters`);

/**
 * Checks that the notification exists and that the caller may see it. The relayer's events go to that webhook.
 * @throws AppError `NOTIFICATION_NOT_FOUND`
 */
export async function checkNotification(
  read: Pick<StoreReader, 'notification'>,
  id: string | null | undefined,
  { access }: Caller,
): Promise<void> {
  if (id == null) return;
  const isSeen = access?.sees('notifications') ?? true;
  if (!isSeen || (await read.notification(id)) === undefined) throw new AppError('NOTIFICATION_NOT_FOUND', { id });
}

/**
 * Checks that the caller may use the signer. A new relayer lets its caller sign with the key, so it needs the right
 * over signers.
 * @throws AppError `SIGNER_NOT_FOUND`, `NOT_PERMITTED`
 */
export function checkSignerUse(id: string, { access }: Caller): void {
  const need = { resource: 'signers', action: 'write' } as const;
  if (access === undefined || access.may(need)) return;
  if (!access.sees('signers')) throw new AppError('SIGNER_NOT_FOUND', { id });
  throw new AppError('NOT_PERMITTED', { resource: 'signers', deed: 'write' });
}

/**
 * Makes the audit record of a relayer's change. `isMoved` says that its endpoints changed, which views hide in part.
 */
export function relayerAudit(
  action: AuditedChange['action'],
  resourceId: string,
  views: Pick<AuditedChange, 'before' | 'after'>,
  isMoved = false,
): AuditedChange {
  return { action, resource: 'relayer', resourceId, ...views, secrets: isMoved ? ['custom_rpc_urls'] : [] };
}
