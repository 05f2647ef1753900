import { createHash } from 'node:crypto';
import { canonicalJson, type WireObject } from '../../domain/json/json.ts';
import type { Actor } from '../../domain/settings/caller.ts';
import type { Writer } from '../../store/store.ts';

/** A signature of something that is not sent: the operation, and the request as the client wrote it. */
export interface SignedFor {
  relayerId: string;
  what: 'message' | 'typed_data' | 'transaction' | 'sponsored_transaction' | 'rpc';
  request: unknown;
}

/** The most characters of a request that are stored. The hash covers the whole request. */
const MAX_CHARACTERS = 2_000;

/** Records who had which call passed on to a node that may act on it, before it is passed on. */
export async function notePassed(
  writer: Pick<Writer, 'insertAuditRecord'>,
  by: Actor | undefined,
  relayerId: string,
  request: unknown,
): Promise<void> {
  await note(writer, by, 'pass', { relayerId, what: 'rpc', request });
}

/**
 * Records who asked a relayer to sign what. The record is committed before the signature is returned. Signatures are
 * not stored.
 */
export async function noteSigned(
  writer: Pick<Writer, 'insertAuditRecord'>,
  by: Actor | undefined,
  signed: SignedFor,
): Promise<void> {
  await note(writer, by, 'sign', signed);
}

async function note(
  writer: Pick<Writer, 'insertAuditRecord'>,
  by: Actor | undefined,
  action: 'sign' | 'pass',
  { relayerId, what, request }: SignedFor,
): Promise<void> {
  if (by === undefined) return;
  const { keyId, requestId, pluginId } = by;
  const text = canonicalJson(request);
  const after: WireObject = {
    ...(pluginId !== undefined && { plugin_id: pluginId }),
    what,
    request: text.slice(0, MAX_CHARACTERS).toWellFormed(),
    request_sha256: createHash('sha256').update(text).digest('hex'),
    is_cut: text.length > MAX_CHARACTERS,
  };
  const about = { action, resource: 'signature', resourceId: relayerId, before: null, after } as const;
  await writer.insertAuditRecord({ ...about, keyId, requestId });
}
