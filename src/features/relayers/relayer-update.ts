import { z } from 'zod';
import type { ChainConnections } from '../../chains/rpc-connections.ts';
import { AppError, invalidRequest } from '../../domain/errors.ts';
import { idSchema } from '../../domain/id.ts';
import { isObject, type Json, type JsonObject } from '../../domain/json/json.ts';
import type { AddressGuard } from '../../egress/address-guard.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Store } from '../../store/store.ts';
import type { Caller } from '../api-keys/records/caller.ts';
import type { Networks } from '../networks/record.ts';
import { checkRpcAddresses, refuseOtherChain, relayerUrlsSchema } from '../networks/rpc-urls.ts';
import { earlierEffect } from '../recorded-effects.ts';
import { parseBody } from '../request-body.ts';
import { changeSettingsOnce } from '../resource.ts';
import type { Relayer } from './records/relayer.ts';
import type { RelayerDirectory } from './relayer-access.ts';
import { checkNotification, relayerAudit, relayerNameSchema } from './relayer-form.ts';

export interface RelayerUpdateDeps {
  store: Store;
  relayers: RelayerDirectory;
  networks: Networks;
  connections: ChainConnections;
  engine: Pick<Engine, 'recheck'>;
  rpcGuard: Pick<AddressGuard, 'checkUrl'>;
}

/** The body that updates a relayer. Absent fields stay. Null keeps the name and removes any other field. */
export const relayerUpdateSchema = z.strictObject({
  name: relayerNameSchema.nullish(),
  paused: z.boolean().optional(),
  notification_id: idSchema.nullish(),
  custom_rpc_urls: relayerUrlsSchema.nullish(),
  policies: z.custom<JsonObject>(isObject, { error: 'must be an object' }).nullish(),
});

type RelayerChange = z.output<typeof relayerUpdateSchema>;

/** Changes a relayer for a client. The change takes effect with the engine's next step. */
export function createRelayerUpdate(
  deps: RelayerUpdateDeps,
): (relayerId: string, body: unknown, by: Caller) => Promise<Relayer> {
  const { store, relayers, networks, connections, engine, rpcGuard } = deps;

  return async (relayerId, body, by) => {
    const { relayer: seen, chain } = await relayers.find(relayerId);
    if ((await earlierEffect(store.read, by.effect)) !== undefined) return seen;
    const change = parseBody(relayerUpdateSchema, body);
    checkRpcAddresses(change.custom_rpc_urls ?? [], rpcGuard, 'custom_rpc_urls');
    if (change.custom_rpc_urls !== undefined) {
      const served = { ...seen, customRpcUrls: change.custom_rpc_urls };
      await refuseOtherChain({ read: store.read, connections }, chain, served, 'custom_rpc_urls');
    }

    const written = await changeSettingsOnce(store, by, async (writer) => {
      const relayer = await writer.relayer(relayerId);
      if (relayer === undefined) throw new AppError('RELAYER_NOT_FOUND', { id: relayerId });
      await checkNotification(writer, change.notification_id, by);
      const policies = parseBody(chain.policySchema, mergedPolicies(relayer, change), ['policies']);
      const { settings } = networks.find(relayer.networkType, relayer.network) ?? {};
      const fault = chain.policyFault?.(policies, relayer.network, settings) ?? null;
      if (fault !== null) throw invalidRequest(`policies: ${fault}`);
      const next: Relayer = {
        ...relayer,
        name: change.name ?? relayer.name,
        paused: change.paused ?? relayer.paused,
        notificationId: given(change.notification_id, relayer.notificationId),
        customRpcUrls: given(change.custom_rpc_urls, relayer.customRpcUrls),
        policies,
      };
      await writer.putRelayer(next);
      const views = { before: relayers.viewOf(relayer), after: relayers.viewOf(next) };
      const isMoved = JSON.stringify(relayer.customRpcUrls) !== JSON.stringify(next.customRpcUrls);
      return { outcome: null, next, audit: relayerAudit('update', relayerId, views, isMoved) };
    });
    const updated = written.isRepeat ? seen : written.made.next;
    if (updated.disabledReason !== null || change.custom_rpc_urls !== undefined) engine.recheck(relayerId);
    return updated;
  };
}

function given<T>(value: T | null | undefined, kept: T | null): T | null {
  return value === undefined ? kept : value;
}

/**
 * Merges policies by RFC 7396, except that null stays in the result. The chain's schema reads null as unset, and an
 * unknown key with null is still reported.
 */
function mergedPolicies({ policies }: Relayer, change: RelayerChange): JsonObject {
  if (change.policies === null) return {};
  return change.policies === undefined ? policies : merge(policies, change.policies);
}

function merge(base: JsonObject, patch: JsonObject): JsonObject {
  const merged: [string, Json][] = Object.entries(patch).map(([key, value]) => {
    const before = Object.hasOwn(base, key) ? base[key] : undefined;
    return [key, isObject(value) ? merge(isObject(before) ? before : {}, value) : value];
  });
  return { ...base, ...Object.fromEntries(merged) };
}
