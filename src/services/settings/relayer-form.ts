import { z } from 'zod';
import { AppError } from '../../domain/errors.ts';
import type { AuditedChange } from '../../domain/settings/audit.ts';
import type { Caller } from '../../domain/settings/caller.ts';
import type { Reader } from '../../store/store.ts';

const LONGEST_NAME = 256;

/** The name of a relayer, as bodies have it. */
export const relayerNameSchema = z
  .string()
  .min(1, 'Name cannot be empty')
  .max(LONGEST_NAME, `must have at most ${LONGEST_NAME} characters`);

/**
 * A webhook that a relayer names is told of it: who names one has to see it.
 * @throws AppError `NOTIFICATION_NOT_FOUND`
 */
export async function checkNotification(
  read: Pick<Reader, 'notification'>,
  id: string | null | undefined,
  { access }: Caller,
): Promise<void> {
  if (id == null) return;
  const isSeen = access?.sees('notifications') ?? true;
  if (!isSeen || (await read.notification(id)) === undefined) throw new AppError('NOTIFICATION_NOT_FOUND', { id });
}

/**
 * Whoever makes a relayer with a signer may sign with its key: that takes the right over signers.
 * @throws AppError `SIGNER_NOT_FOUND`, `NOT_PERMITTED`
 */
export function checkSignerUse(id: string, { access }: Caller): void {
  const need = { resource: 'signers', deed: 'write' } as const;
  if (access === undefined || access.may(need)) return;
  if (!access.sees('signers')) throw new AppError('SIGNER_NOT_FOUND', { id });
  throw new AppError('NOT_PERMITTED', need);
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
