import type { Network } from '../domain/network.ts';
import type { PluginEntry } from '../domain/plugin.ts';
import type { RelayerEntry } from './configuration.ts';
import { SECRET_VARIABLES } from './environment.ts';
import { didYouMean } from './nearest.ts';
import type { Findings } from './problems.ts';

/** What the parts of the configuration say about each other. The ids include those of entries with other faults. */
export interface Referable {
  file: string;
  networks: readonly Network[];
  relayerIds: readonly string[];
  signerIds: readonly string[];
  notificationIds: readonly string[];
  /** Variables that hold secrets of signers and notifications. */
  secretNames: readonly string[];
}

/** Checks that the signer, the notification and the network of each relayer exist. */
export function checkRelayerReferences(
  relayers: readonly { entry: RelayerEntry; path: string }[],
  known: Referable,
  findings: Findings,
): void {
  for (const { entry, path } of relayers) {
    const { signerId, notificationId, network, networkType } = entry;
    if (!known.signerIds.includes(signerId)) {
      const advice = didYouMean(signerId, known.signerIds) ?? 'Declare it in "signers"';
      findings.problem(known.file, `${path}.signer_id`, `there is no signer "${signerId}"`, advice);
    }
    if (notificationId !== null && !known.notificationIds.includes(notificationId)) {
      const advice = didYouMean(notificationId, known.notificationIds) ?? 'Declare it in "notifications"';
      findings.problem(known.file, `${path}.notification_id`, `there is no notification "${notificationId}"`, advice);
    }
    const names = known.networks.filter(({ type }) => type === networkType).map(({ name }) => name);
    if (!names.includes(network)) {
      const advice =
        didYouMean(network, names) ??
        `Describe it in a file of the networks folder: { "network": "${network}", "rpc_urls": ["https://…"] }`;
      findings.problem(known.file, `${path}.network`, `there is no ${networkType} network "${network}"`, advice);
    }
  }
}

/** Checks what plugins are granted: never a credential of the service, and relayers that exist. */
export function checkGrants(
  plugins: readonly { entry: PluginEntry; path: string }[],
  known: Referable,
  findings: Findings,
): void {
  const secrets = [...SECRET_VARIABLES, ...known.secretNames];
  for (const { entry, path } of plugins) {
    for (const [index, name] of (entry.permissions?.env ?? []).entries()) {
      if (!secrets.includes(name)) continue;
      const message = `${name} is a credential of the service and cannot be granted to a plugin`;
      findings.problem(known.file, `${path}.permissions.env[${index}]`, message);
    }
    for (const id of Object.keys(entry.permissions?.relayers ?? {})) {
      if (known.relayerIds.includes(id)) continue;
      const at = `${path}.permissions.relayers.${id}`;
      findings.warn(known.file, at, `no relayer "${id}" is declared here`, didYouMean(id, known.relayerIds));
    }
  }
}
