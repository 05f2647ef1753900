import type { NetworkType } from '../domain/network-type.ts';
import type { KnownChains, KnownSignerKind, KnownSignerKinds } from './chain-schemas.ts';
import type { Place } from './check.ts';
import type { RelayerEntry, SignerEntry } from './configuration.ts';
import type { Findings } from './problems.ts';

/** Checks that the signer of a relayer can sign for the relayer's network type. */
export function checkCurve(
  { id, networkType, signerId }: Pick<RelayerEntry, 'id' | 'networkType' | 'signerId'>,
  { file, path }: Place,
  known: { signers: readonly SignerEntry[]; kinds: KnownSignerKinds; chains: KnownChains },
  findings: Findings,
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
