import { z } from 'zod';
import { AppError } from '../../../domain/errors.ts';
import type { WireObject } from '../../../domain/json/json.ts';
import { maskUrl } from '../../../domain/mask-url.ts';
import { networkTypeSchema } from '../../../domain/network-type.ts';
import {
  amountColumn,
  anyJsonColumn,
  booleanColumn,
  defineRecord,
  enumColumn,
  type FieldsOf,
  integerColumn,
  jsonColumn,
  jsonObjectColumn,
  nullableColumn,
  proseColumn,
  sealedColumn,
  textColumn,
  timestampColumn,
} from '../../../domain/record.ts';
import {
  type DisabledReason,
  disabledReasonSchema,
  disabledReasonView,
  disabledText,
  notReachedYet,
} from './disabled-reason.ts';

/** One RPC endpoint; `weight` 0 to 100 is its share of the calls, 0 switches it off. */
export interface RpcUrl {
  url: string;
  weight: number;
}

export const rpcUrlSchema: z.ZodType<RpcUrl> = z.strictObject({ url: z.string(), weight: z.number() });

const balanceColumns = {
  relayerId: textColumn,
  balance: amountColumn,
  /** Whether the balance is near the least one that the relayer's policy sets; told once. */
  isLow: booleanColumn,
};

export const relayerBalanceRecord = defineRecord('relayer_balances', balanceColumns, { key: ['relayerId'] });

/** What the account of a relayer was last seen to have. */
export interface RelayerBalance extends FieldsOf<typeof balanceColumns> {}

const columns = {
  id: textColumn,
  name: proseColumn,
  network: textColumn,
  networkType: enumColumn(networkTypeSchema),
  /** Derived from the signer's public key by the chain. */
  address: textColumn,
  /** Set by clients. */
  paused: booleanColumn,
  /** Set by the service while its checks fail. */
  disabledReason: nullableColumn(jsonColumn(disabledReasonSchema)),
  signerId: textColumn,
  notificationId: nullableColumn(textColumn),
  /** These replace the network's endpoints when present. Their paths often have a key. */
  customRpcUrls: nullableColumn(sealedColumn(jsonColumn(z.array(rpcUrlSchema)))),
  /** As the chain's policy schema leaves it: unset fields absent, integers beyond 2^53 as decimal strings. */
  policies: jsonObjectColumn,
  /**
   * The file's entry at the last start, with digests for what may hold credentials; null for a relayer made over the
   * API.
   */
  declaration: nullableColumn(anyJsonColumn),
};

export const relayerRecord = defineRecord('relayers', columns, {
  beside: {
    /** Random, and new with each write of the row (`newRevision`). */
    revision: integerColumn,
    createdAt: timestampColumn,
  },
});

/** A relayer as the service knows it: the declaration, what the API changed, what the checks found. */
export interface Relayer extends FieldsOf<typeof columns> {}

/** The states of a relayer. One that is both paused and disabled counts as disabled. */
export const RELAYER_STATES = ['active', 'paused', 'disabled'] as const;

export type RelayerState = (typeof RELAYER_STATES)[number];

/** Which relayers a list shows: those that match every field. */
export interface RelayerFilter {
  /** With these ids. */
  among?: readonly string[] | undefined;
  /** In one of these states. */
  states?: readonly RelayerState[] | undefined;
  /** With this text in their id, name, address or network, in whatever case; the network also as `<type>:<network>`. */
  search?: string | undefined;
}

/** What relayers have in common that use one thing. */
export type RelayerUse = Partial<
  Pick<Relayer, 'signerId' | 'networkType' | 'network' | 'address'> & { notificationId: string }
>;

/**
 * A relayer as answers and webhooks show it: keys in the reference's order, without unset ones.
 * @param policies as its chain shows them
 */
export function relayerView(relayer: Relayer, policies: WireObject | undefined): WireObject {
  const { notificationId, customRpcUrls, disabledReason } = relayer;
  return {
    id: relayer.id,
    name: relayer.name,
    network: relayer.network,
    network_type: relayer.networkType,
    paused: relayer.paused,
    ...(policies === undefined ? {} : { policies }),
    signer_id: relayer.signerId,
    ...(notificationId === null ? {} : { notification_id: notificationId }),
    ...(customRpcUrls === null ? {} : { custom_rpc_urls: customRpcUrls.map(maskedUrl) }),
    address: relayer.address,
    system_disabled: disabledReason !== null,
    ...(disabledReason === null ? {} : { disabled_reason: disabledReasonView(disabledReason) }),
  };
}

function maskedUrl({ url, weight }: RpcUrl): WireObject {
  return { url: maskUrl(url), weight };
}

/** The refusal of a request to a disabled relayer. */
export function relayerDisabled(reason: DisabledReason): AppError<'RELAYER_DISABLED'> {
  return new AppError('RELAYER_DISABLED', { reason: disabledText(reason) }, { disabledReason: reason });
}

/** The refusal of a request to a relayer whose network was not reached yet. */
export function networkNotReached(network?: string): AppError<'RELAYER_DISABLED'> {
  return relayerDisabled(notReachedYet(network));
}
