import { createHash } from 'node:crypto';
import type { Chain } from '../../chains/chain.ts';
import type { JsonObject, WireObject } from '../../domain/json/json.ts';
import { canonicalJson } from '../../domain/json/json.ts';
import type { Log } from '../../observability/log.ts';
import type { Store, StoreWriter } from '../../store/store.ts';
import type { Actor } from '../api-keys/records/caller.ts';
import type { Transaction } from '../transactions/records/transaction.ts';

/** A signature of something that is not sent: the operation, and the request as the client wrote it. */
export interface SignatureRequest {
  relayerId: string;
  what: 'message' | 'typed_data' | 'transaction' | 'sponsored_transaction' | 'rpc';
  request: unknown;
}

/** The most characters of a request that are stored. The hash covers the whole request. */
const MAX_CHARACTERS = 2_000;

/** Records who had which call passed on to a node that may act on it, before it is passed on. */
export async function auditPassThrough(
  writer: Pick<StoreWriter, 'insertAuditRecord'>,
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
export async function auditSignature(
  writer: Pick<StoreWriter, 'insertAuditRecord'>,
  by: Actor | undefined,
  signed: SignatureRequest,
): Promise<void> {
  await note(writer, by, 'sign', signed);
}

async function note(
  writer: Pick<StoreWriter, 'insertAuditRecord'>,
  by: Actor | undefined,
  action: 'sign' | 'pass',
  { relayerId, what, request }: SignatureRequest,
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

/** A client's request about a transaction. */
export interface AuditedRequest {
  action: 'send' | 'replace' | 'cancel';
  transaction: Pick<Transaction, 'id' | 'relayerId'>;
  /** Absent when the request sends nothing. */
  request?: { of: Pick<Chain, 'spending'>; fields: JsonObject };
}

/**
 * Records who asked to send, replace or cancel a transaction, in the commit that stores it. The record has the
 * recipient and the value, if the chain family can tell them. Requests of the service itself have no record.
 */
export async function auditTransactionRequest(
  writer: Pick<StoreWriter, 'insertAuditRecord'>,
  by: Actor | undefined,
  { action, transaction, request }: AuditedRequest,
): Promise<void> {
  if (by === undefined) return;
  const { keyId, requestId, pluginId } = by;
  const after: WireObject = {
    relayer_id: transaction.relayerId,
    ...(pluginId !== undefined && { plugin_id: pluginId }),
    ...(request !== undefined && moved(request)),
  };
  const about = { action, resource: 'transaction', resourceId: transaction.id, before: null, after } as const;
  await writer.insertAuditRecord({ ...about, keyId, requestId });
}

function moved({ of: { spending }, fields }: NonNullable<AuditedRequest['request']>): WireObject {
  if (spending === undefined) return {};
  const { recipient, value } = spending.spendOf(fields);
  return { recipient, value: String(value) };
}

type AuditRecord = Parameters<StoreWriter['insertAuditRecord']>[0];

/**
 * Returns the store, extended by a log line for each audit record that it commits. A send has its own log line already.
 */
export function withAuditLog(store: Store, log: Log): Store {
  return {
    ...store,
    async write(body, options) {
      let noted: AuditRecord[] = [];
      const written = await store.write((writer) => {
        // The store may run the body more than once.
        noted = [];
        const insertAuditRecord = (record: AuditRecord) => {
          noted.push(record);
          return writer.insertAuditRecord(record);
        };
        return body({ ...writer, insertAuditRecord });
      }, options);
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
