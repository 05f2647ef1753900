import { z } from 'zod';
import type { Chain } from '../../chains/chain.ts';
import type { ChainConnections } from '../../chains/rpc-connections.ts';
import { AppError, invalidRequest } from '../../domain/errors.ts';
import { idSchema } from '../../domain/id.ts';
import { isObject, type Json, type JsonObject } from '../../domain/json/json.ts';
import { type NetworkType, networkTypeSchema } from '../../domain/network-type.ts';
import type { AddressGuard } from '../../egress/address-guard.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts';
import type { Caller } from '../api-keys/records/caller.ts';
import type { NetworkDirectory } from '../networks/network-directory.ts';
import { checkRpcAddresses, refuseOtherChain, relayerUrlsSchema } from '../networks/rpc-urls.ts';
import { earlierEffect } from '../recorded-effects.ts';
import { parseBody } from '../request-body.ts';
import { changeSettingsOnce } from '../resource.ts';
import type { SignerDirectory } from '../signers/signer-directory.ts';
import { laneKey } from '../transactions/records/lane.ts';
import { type DisabledReason, notReachedYet } from './records/disabled-reason.ts';
import type { Relayer } from './records/relayer.ts';
import type { RelayerDirectory } from './relayer-access.ts';
import { checkNotification, checkSignerUse, relayerAudit, relayerNameSchema } from './relayer-form.ts';

export interface RelayerCreateDeps {
  store: Store;
  chains: ReadonlyMap<NetworkType, Chain>;
  relayers: RelayerDirectory;
  signers: Pick<SignerDirectory, 'reach' | 'declaredOne' | 'signer'>;
  networks: Pick<NetworkDirectory, 'configured' | 'find'>;
  connections: Pick<ChainConnections, 'clientOf'>;
  engine: Pick<Engine, 'recheck'>;
  rpcGuard: Pick<AddressGuard, 'checkUrl'>;
  /** A new id (`domain/id.ts`). */
  newId(): string;
}

/** The body that creates a relayer. Its policies are those of its network type. */
export const relayerCreateSchema = z.strictObject({
  id: idSchema.nullish(),
  name: relayerNameSchema,
  network: z.string().min(1, 'Network cannot be empty'),
  network_type: networkTypeSchema,
  paused: z.boolean(),
  signer_id: z.string().min(1, 'Signer ID cannot be empty'),
  notification_id: idSchema.nullish(),
  custom_rpc_urls: relayerUrlsSchema.nullish(),
  policies: z.custom<JsonObject>(isObject, { error: 'must be an object' }).nullish(),
});

/** Creates a relayer for a client. The engine starts it at once. */
export function createRelayerCreate(deps: RelayerCreateDeps): (body: unknown, by: Caller) => Promise<Relayer> {
  const { store, relayers, engine } = deps;

  return async (body, by) => {
    const earlier = await earlierEffect(store.read, by.effect);
    if (earlier !== undefined) return (await relayers.find(idIn(earlier.outcome))).relayer;
    const relayer = await formOf(deps, body, by);
    const { made } = await changeSettingsOnce(store, by, async (writer) => {
      const { id } = relayer;
      if ((await writer.relayer(id)) !== undefined) throw new AppError('RELAYER_EXISTS', { id });
      await refuseReference(deps, writer, relayer, by);
      await refuseOtherPast(writer, relayer);
      await writer.putRelayer(relayer);
      return { outcome: id, audit: relayerAudit('create', id, { before: null, after: relayers.viewOf(relayer) }) };
    });
    const id = idIn(made.outcome);
    engine.recheck(id);
    return (await relayers.find(id)).relayer;
  };
}

function idIn(outcome: Json | undefined): string {
  return typeof outcome === 'string' ? outcome : '';
}

/** Does all checks that come before the write, in the reference's order. */
async function formOf(deps: RelayerCreateDeps, body: unknown, by: Caller): Promise<Relayer> {
  const { store, chains, signers, networks, connections, rpcGuard, newId } = deps;
  const form = parseBody(relayerCreateSchema, body);
  const { network, network_type: networkType, signer_id: signerId, custom_rpc_urls: customRpcUrls = null } = form;
  const chain = chains.get(networkType);
  if (chain === undefined) throw invalidRequest(`network_type: relayers of type ${networkType} are not available`);
  const policies = parseBody(chain.policySchema, form.policies ?? {}, ['policies']);
  const fault = chain.policyFault?.(policies, network, networks.find(networkType, network)?.settings) ?? null;
  if (fault !== null) throw invalidRequest(`policies: ${fault}`);
  checkRpcAddresses(customRpcUrls ?? [], rpcGuard, 'custom_rpc_urls');
  checkSignerUse(signerId, by);
  const { curves, notFor } = await signers.reach(signerId);
  if (!curves.includes(chain.curve) || notFor?.[networkType] !== undefined) {
    const reason = notFor?.[networkType] ?? `they sign on ${chain.curve}`;
    throw invalidRequest(`signer_id: signer ${signerId} cannot sign for ${networkType} relayers: ${reason}`);
  }
  const isSeen = by.access?.sees('networks') ?? true;
  if (!isSeen || networks.find(networkType, network) === undefined) throw noNetwork(networkType, network);
  if (customRpcUrls !== null && customRpcUrls.length > 0) {
    const served = { networkType, network, customRpcUrls };
    await refuseOtherChain({ read: store.read, connections }, chain, served, 'custom_rpc_urls');
  }
  const signer = await signers.signer(signerId);
  return {
    id: form.id ?? newId(),
    name: form.name,
    network,
    networkType,
    address: chain.addressOf(await signer.publicKey(chain.curve)),
    paused: form.paused,
    disabledReason: await unreachedReason(store.read, { networkType, network }),
    signerId,
    notificationId: form.notification_id ?? null,
    customRpcUrls,
    policies,
    declaration: null,
  };
}

function noNetwork(networkType: NetworkType, network: string): AppError {
  return invalidRequest(
    `Network '${network}' not found for network type '${networkType}'. Please ensure the network configuration exists.`,
  );
}

/**
 * Refuses a relayer whose signer, network or notification does not exist, or whose signer has a relayer on the network
 * already.
 */
async function refuseReference(
  { networks, signers }: RelayerCreateDeps,
  writer: StoreWriter,
  { networkType, network, signerId, notificationId }: Relayer,
  by: Caller,
): Promise<void> {
  const isSigner = signers.declaredOne(signerId) ?? (await writer.storedSigner(signerId));
  if (isSigner === undefined) throw new AppError('SIGNER_NOT_FOUND', { id: signerId });
  const isNetwork = networks.configured(networkType, network) ?? (await writer.storedNetwork(networkType, network));
  if (isNetwork === undefined) throw noNetwork(networkType, network);
  const [other] = await writer.relayersWith({ signerId, networkType, network });
  if (other !== undefined) {
    throw invalidRequest(
      `Cannot create relayer: signer '${signerId}' is already in use by relayer '${other.id}' on network '${network}'. Each signer can only be connected to one relayer per network for security reasons. Please use a different signer or create the relayer on a different network.`,
    );
  }
  await checkNotification(writer, notificationId, by);
}

/**
 * Refuses the id of a deleted relayer if the new relayer has another account or chain. The deleted relayer's
 * transactions are kept for a while, and would be shown as the new one's.
 */
async function refuseOtherPast(writer: StoreWriter, { id, networkType, network, address }: Relayer): Promise<void> {
  const [latest] = (await writer.transactions(id, { page: 1, perPage: 1 })).items;
  if (latest === undefined) return;
  const identity = await writer.chainIdentity(networkType, network);
  if (identity !== undefined && latest.lane === laneKey(networkType, identity, address)) return;
  throw new AppError('RELAYER_ID_KEPT', { id });
}

/** Why a relayer takes no requests before its first check; null when its chain is known. */
export async function unreachedReason(
  read: Pick<StoreReader, 'chainIdentity'>,
  { networkType, network }: Pick<Relayer, 'networkType' | 'network'>,
): Promise<DisabledReason | null> {
  return (await read.chainIdentity(networkType, network)) === undefined ? notReachedYet(network) : null;
}
