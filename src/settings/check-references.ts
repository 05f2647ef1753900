import { z } from 'zod';
import { didYouMean } from '../domain/json/issue-text.ts';
import { isObject } from '../domain/json/json.ts';
import type { NetworkType } from '../domain/network-type.ts';
import { SPENDING_CAVEATS } from '../features/plugins/records/plugin.ts';
import type { CaveatForm } from '../features/plugins/records/spending.ts';
import { type ConfigurationPlace, configurationPath } from './check.ts';
import type {
  ChainSchemas,
  KnownChains,
  KnownSignerKind,
  KnownSignerKinds,
  RelayerEntry,
  SignerEntry,
} from './configuration.ts';
import { MIN_KEY_LENGTH, SECRET_VARIABLES } from './environment.ts';
import type { ConfigurationFindings } from './problems.ts';
import { configurationSecretSchema, type Variables } from './secrets.ts';

const texts = z.array(z.unknown()).catch([]);

const limited = z.object({ permissions: z.object({ relayers: z.record(z.string(), z.unknown()) }) });

const lists = z.object({ recipients: texts, selectors: texts }).partial();

/**
 * Checks the limits in a plugin's grants: the relayer's family must be able to tell spending, and must know the named
 * recipients and selectors.
 * @param families chain families by relayer id; relayers that are not declared are skipped
 */
export function checkCaveats(
  value: unknown,
  { file, path }: ConfigurationPlace,
  families: ReadonlyMap<string, ChainSchemas | undefined>,
  findings: ConfigurationFindings,
): void {
  const relayers = limited.safeParse(value).data?.permissions.relayers ?? {};
  for (const [id, permission] of Object.entries(relayers)) {
    const family = families.get(id);
    const given = SPENDING_CAVEATS.filter((key) => isObject(permission) && permission[key] !== undefined);
    if (family === undefined || given.length === 0) continue;
    const at = configurationPath(path, ['permissions', 'relayers', id]);
    const { spending, type } = family;
    if (spending === undefined) {
      const message = `what is sent through relayers of type ${type} cannot be limited in this version`;
      findings.problem(file, at, message, `Leave out ${given.join(', ')}, or do not grant "send"`);
      continue;
    }
    const { recipients = [], selectors = [] } = lists.safeParse(permission).data ?? {};
    const faults = (key: string, named: readonly unknown[], { read, expected }: CaveatForm) => {
      for (const [index, text] of named.entries()) {
        if (typeof text !== 'string' || read(text) !== undefined) continue;
        findings.problem(
          file,
          configurationPath(at, [key, index]),
          `expected ${expected}, not ${JSON.stringify(text)}`,
        );
      }
    };
    faults('recipients', recipients, spending.recipient);
    faults('selectors', selectors, spending.selector);
  }
}

/**
 * The names that entries may refer to. They include entries with other faults, so that one fault does not cause a
 * second message.
 */
export interface ReferableNames {
  networks: readonly { type: NetworkType | undefined; name: string }[];
  relayers: readonly string[];
  signers: readonly string[];
  notifications: readonly string[];
  /** Variables that hold secrets of signers, notifications and triggers. */
  secrets: readonly string[];
}

const text = z.string().optional().catch(undefined);
const relayerNames = z.object({ signer_id: text, notification_id: text, network: text, network_type: text });

/** Checks that the signer, the notification and the network of a relayer exist. */
export function checkRelayerReferences(
  value: unknown,
  { file, path }: ConfigurationPlace,
  known: ReferableNames,
  findings: ConfigurationFindings,
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
export function checkPluginGrants(
  value: unknown,
  { file, path }: ConfigurationPlace,
  known: ReferableNames,
  findings: ConfigurationFindings,
): void {
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

const triggers = z.object({
  triggers: z.array(z.object({ relayers: texts, secret: z.unknown() }).partial().catch({})),
});

/** Checks what a plugin's triggers name: relayers that should exist, and secrets that nobody can guess. */
export function checkTriggers(
  value: unknown,
  { file, path }: ConfigurationPlace,
  known: ReferableNames,
  variables: Variables,
  findings: ConfigurationFindings,
): void {
  for (const [index, { relayers = [], secret }] of (triggers.safeParse(value).data?.triggers ?? []).entries()) {
    const at = configurationPath(path, ['triggers', index]);
    for (const id of relayers) {
      if (typeof id !== 'string' || id === '*' || known.relayers.includes(id)) continue;
      findings.warn(file, `${at}.relayers`, `no relayer "${id}" is declared here`, didYouMean(id, known.relayers));
    }
    const reference = configurationSecretSchema.safeParse(secret).data;
    const key = reference?.type === 'env' ? variables[reference.value] : reference?.value;
    if (key !== undefined && key !== '' && key.length < MIN_KEY_LENGTH) {
      findings.warn(file, `${at}.secret`, `the secret has fewer than ${MIN_KEY_LENGTH} characters`);
    }
  }
}

/** Checks that the signer of a relayer can sign for the relayer's network type. */
export function checkSignerCurve(
  { id, networkType, signerId }: Pick<RelayerEntry, 'id' | 'networkType' | 'signerId'>,
  { file, path }: ConfigurationPlace,
  known: { signers: readonly SignerEntry[]; kinds: KnownSignerKinds; chains: KnownChains },
  findings: ConfigurationFindings,
): void {
  const { type = '', config } = known.signers.find((signer) => signer.id === signerId) ?? {};
  const kind = known.kinds.get(type);
  const curve = known.chains.get(networkType)?.curve;
  if (kind === undefined || curve === undefined) return;
  const curves = kind.curvesOf?.(config) ?? kind.curves;
  if (isAble({ ...kind, curves }, curve, networkType)) return;
  const reason =
    kind.notFor?.[networkType] ??
    `networks of type ${networkType} sign on ${curve}, and it signs on ${curves.join(' and ')}`;
  const message = `signer "${signerId}" of type ${type} cannot sign for relayer "${id}": ${reason}`;
  const able = [...known.kinds].filter(([, one]) => isAble(one, curve, networkType)).map(([name]) => name);
  const withKey = able.includes(type) ? ` with a key on ${curve}` : '';
  const advice = able.length === 0 ? undefined : `Name a signer of type ${able.join(' or ')}${withKey}`;
  findings.problem(file, `${path}.signer_id`, message, advice);
}

function isAble(
  { curves, notFor }: Pick<KnownSignerKind, 'curves' | 'notFor'>,
  curve: string,
  networkType: NetworkType,
): boolean {
  return curves.includes(curve) && notFor?.[networkType] === undefined;
}
