import type { Chain } from '../../chains/chain.ts';
import type { JsonObject, WireObject } from '../../domain/json/json.ts';
import type { Actor } from '../../domain/settings/caller.ts';
import type { Transaction } from '../../domain/transaction/transaction.ts';
import type { Writer } from '../../store/store.ts';

/** A client's request about a transaction. */
export interface AskedOf {
  action: 'send' | 'replace' | 'cancel';
  transaction: Pick<Transaction, 'id' | 'relayerId'>;
  /** Absent when the request sends nothing. */
  request?: { of: Pick<Chain, 'spending'>; fields: JsonObject };
}

/**
 * Records who asked to send, replace or cancel a transaction, in the commit that stores it. The record has the
 * recipient and the value, if the chain family can tell them. Requests of the service itself have no record.
 */
export async function noteAsked(
  writer: Pick<Writer, 'insertAuditRecord'>,
  by: Actor | undefined,
  { action, transaction, request }: AskedOf,
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

function moved({ of: { spending }, fields }: NonNullable<AskedOf['request']>): WireObject {
  if (spending === undefined) return {};
  const { recipient, value } = spending.spendOf(fields);
  return { recipient, value: String(value) };
}
