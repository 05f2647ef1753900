import { z } from 'zod';
import { didYouMean } from '../domain/json/nearest.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { Place } from './check.ts';
import { SECRET_VARIABLES } from './environment.ts';
import type { Findings } from './problems.ts';

/**
 * The names that entries may refer to. They include entries with other faults, so that one fault does not cause a
 * second message.
 */
export interface KnownNames {
  networks: readonly { type: NetworkType | undefined; name: string }[];
  relayers: readonly string[];
  signers: readonly string[];
  notifications: readonly string[];
  /** Variables that hold secrets of signers and notifications. */
  secrets: readonly string[];
}

const text = z.string().optional().catch(undefined);
const relayerNames = z.object({ signer_id: text, notification_id: text, network: text, network_type: text });

/** Checks that the signer, the notification and the network of a relayer exist. */
export function checkRelayerReferences(
  value: unknown,
  { file, path }: Place,
  known: KnownNames,
  findings: Findings,
): void {
  const names = relayerNames.safeParse(value).data;
  if (names === undefined) return;
  const { signer_id: signer, notification_id: notification, network, network_type: type } = names;
  if (signer !== undefined && !known.signers.includes(signer)) {
    const advice = didYouMean(signer, known.signers) ?? 'Declare it in "signers"';
    findings.problem(file, `${path}.signer_id`, `there is no signer "${signer}"`, advice);
  }
  if (notification !== undefined && !known.notifications.includes(notification)) {
    const advice = didYouMean(notification, known.notifications) ?? 'Declare it in "notifications"';
    findings.problem(file, `${path}.notification_id`, `there is no notification "${notification}"`, advice);
  }
  if (network === undefined || type === undefined) return;
  const ofType = known.networks.filter((one) => one.type === undefined || one.type === type).map(({ name }) => name);
  if (ofType.includes(network)) return;
  const advice =
    didYouMean(network, ofType) ??
    `Describe it in a file of the networks folder: { "network": "${network}", "rpc_urls": ["https://…"] }`;
  findings.problem(file, `${path}.network`, `there is no ${type} network "${network}"`, advice);
}

const grants = z.object({
  permissions: z.object({
    env: z.array(z.unknown()).catch([]),
    relayers: z.record(z.string(), z.unknown()).catch({}),
  }),
});

/** Checks a plugin's grants. It must not be granted the service's credentials, and its relayers should exist. */
export function checkGrants(value: unknown, { file, path }: Place, known: KnownNames, findings: Findings): void {
  const permissions = grants.safeParse(value).data?.permissions;
  if (permissions === undefined) return;
  const credentials: readonly unknown[] = [...SECRET_VARIABLES, ...known.secrets];
  for (const [index, name] of permissions.env.entries()) {
    if (!credentials.includes(name)) continue;
    const message = `${String(name)} is a credential of the service and cannot be granted to a plugin`;
    findings.problem(file, `${path}.permissions.env[${index}]`, message);
  }
  for (const id of Object.keys(permissions.relayers).filter((one) => !known.relayers.includes(one))) {
    const at = `${path}.permissions.relayers.${id}`;
    findings.warn(file, at, `no relayer "${id}" is declared here`, didYouMean(id, known.relayers));
  }
}
