import { z } from 'zod';
import type { ChainConnections } from '../chains/connections.ts';
import { isSameChain } from '../chains/same-chain.ts';
import type { AuditedChange } from '../domain/audit.ts';
import type { Caller } from '../domain/caller.ts';
import { AppError, invalidRequest } from '../domain/errors.ts';
import { idSchema } from '../domain/id.ts';
import { inTime } from '../domain/in-time.ts';
import { isObject, type Json, type JsonObject, type WireObject } from '../domain/json/json.ts';
import { isMasked } from '../domain/mask-url.ts';
import type { Relayer, RpcUrl } from '../domain/relayer.ts';
import { type AddressGuard, BlockedAddressError } from '../egress/address-guard.ts';
import type { Engine } from '../engine/engine.ts';
import type { Store, Writer } from '../store/store.ts';
import { earlierEffect } from './effects.ts';
import type { RelayerDirectory } from './relayer-access.ts';
import { parseBody } from './request-body.ts';
import { changeOnce } from './settings/change.ts';

export interface RelayerUpdateDeps {
  store: Store;
  relayers: RelayerDirectory;
  connections: ChainConnections;
  engine: Pick<Engine, 'recheck'>;
  rpcGuard: Pick<AddressGuard, 'checkUrl'>;
}

const LONGEST_NAME = 256;
const LONGEST_URL = 2_048;
const MOST_URLS = 64;

const rpcUrlSchema = z.strictObject({
  url: z
    .string()
    .max(LONGEST_URL, `must have at most ${LONGEST_URL} characters`)
    .refine(
      (text) => /^https?:\/\/[^\s\p{Cc}\p{Cs}]+$/iu.test(text) && URL.canParse(text),
      'must be an http or https URL',
    )
    .refine((text) => !isMasked(text), 'is hidden in part, as answers show it; give the whole URL'),
  weight: z
    .int()
    .min(0, 'RPC URL weight must be in range 0-100')
    .max(100, 'RPC URL weight must be in range 0-100')
    .default(100),
});

/** The body that updates a relayer: what is absent stays. Null leaves a name and removes each of the others. */
export const relayerUpdateSchema = z.strictObject({
  name: z
    .string()
    .min(1, 'Name cannot be empty')
    .max(LONGEST_NAME, `must have at most ${LONGEST_NAME} characters`)
    .nullish(),
  paused: z.boolean().optional(),
  notification_id: idSchema.nullish(),
  custom_rpc_urls: z
    .array(z.unknown())
    .max(MOST_URLS, `must have at most ${MOST_URLS} entries`)
    .pipe(z.array(rpcUrlSchema))
    .refine((urls) => urls.length === 0 || urls.some(({ weight }) => weight > 0), 'at least one weight must be above 0')
    .nullish(),
  policies: z.custom<JsonObject>(isObject, { error: 'must be an object' }).nullish(),
});

type RelayerChange = z.output<typeof relayerUpdateSchema>;

/** The change of a relayer by a client. What it changes counts from the engine's next step. */
export function createRelayerUpdate(
  deps: RelayerUpdateDeps,
): (relayerId: string, body: unknown, by: Caller) => Promise<Relayer> {
  const { store, relayers, engine, rpcGuard } = deps;

  return async (relayerId, body, by) => {
    const { relayer: seen, chain } = await relayers.find(relayerId);
    if ((await earlierEffect(store.read, by.effect)) !== undefined) return seen;
    const change = parseBody(relayerUpdateSchema, body);
    checkAddresses(change.custom_rpc_urls ?? [], rpcGuard);
    if (change.custom_rpc_urls !== undefined) await refuseOtherChain(deps, seen, change.custom_rpc_urls);

    const written = await changeOnce(store, by, async (writer) => {
      const relayer = await writer.relayer(relayerId);
      if (relayer === undefined) throw new AppError('RELAYER_NOT_FOUND', { id: relayerId });
      await checkNotification(writer, change.notification_id);
      const policies = parseBody(chain.policySchema, mergedPolicies(relayer, change), ['policies']);
      const fault = chain.policyFault?.(policies, relayer.network) ?? null;
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
      return {
        outcome: null,
        next,
        audit: audited(relayers.viewOf(relayer), relayers.viewOf(next), relayerId),
      };
    });
    const updated = written.isRepeat ? seen : written.made.next;
    if (updated.disabledReason !== null || change.custom_rpc_urls !== undefined) engine.recheck(relayerId);
    return updated;
  };
}

function audited(before: WireObject, after: WireObject, resourceId: string): AuditedChange {
  return { action: 'update', resource: 'relayer', resourceId, before, after };
}

function given<T>(value: T | null | undefined, kept: T | null): T | null {
  return value === undefined ? kept : value;
}

/** RFC 7396, but null stays: to the chain's schema it means unset, and an unknown key does not get lost with it. */
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

function checkAddresses(urls: readonly RpcUrl[], guard: RelayerUpdateDeps['rpcGuard']): void {
  for (const [index, { url }] of urls.entries()) {
    try {
      guard.checkUrl(new URL(url));
    } catch (error) {
      if (!(error instanceof BlockedAddressError)) throw error;
      throw invalidRequest(`custom_rpc_urls.${index}.url: Invalid RPC URL: ${error.message}`, error);
    }
  }
}

async function checkNotification(writer: Writer, id: string | null | undefined): Promise<void> {
  if (id == null || (await writer.notification(id)) !== undefined) return;
  throw new AppError('NOTIFICATION_NOT_FOUND', { id });
}

/** How long endpoints may take to say which chain they serve. */
const IDENTITY_MS = 3_000;

/**
 * Endpoints of another chain would have transactions signed for it. Those that do not answer now are accepted: the
 * check that follows disables the relayer until they do.
 */
async function refuseOtherChain(
  { store, relayers, connections }: RelayerUpdateDeps,
  relayer: Relayer,
  customRpcUrls: RpcUrl[] | null,
): Promise<void> {
  const pinned = await store.read.chainIdentity(relayer.networkType, relayer.network);
  if (pinned === undefined) return;
  const served: string[] = [];
  const asked = async () => {
    const client = connections.clientOf({ ...relayer, customRpcUrls });
    await client.identity(pinned, (_, chain) => served.push(chain));
  };
  await inTime(
    IDENTITY_MS,
    asked().catch(() => {}),
  );
  const family = relayers.chainOf(relayer);
  const other = served.find((chain) => !isSameChain(family, chain, pinned));
  if (other === undefined) return;
  throw invalidRequest(
    `custom_rpc_urls: the endpoints serve chain ${other}, but network ${relayer.network} is chain ${pinned}`,
  );
}
