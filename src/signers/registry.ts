import '../domain/json/issue-text.ts';
import { AppError } from '../domain/errors.ts';
import { awsKmsSignerKind } from './aws-kms.ts';
import { azureKeyVaultSignerKind } from './azure-key-vault.ts';
import { cdpSignerKind } from './cdp.ts';
import { googleCloudKmsSignerKind } from './google-cloud-kms.ts';
import { guardedSigner, withoutSecrets } from './guarded-signer.ts';
import { localSignerKind } from './local.ts';
import type { KindTools, Signer, SignerKind, SignerTools } from './signer.ts';
import { turnkeySignerKind } from './turnkey.ts';
import { vaultSignerKind, vaultTransitSignerKind } from './vault.ts';

/** The kinds of signers, by the `type` that the configuration names. */
export type SignerKinds = ReadonlyMap<string, SignerKind>;

/** All kinds that the service knows. */
export function createSignerKinds(): SignerKinds {
  const kinds: readonly SignerKind[] = [
    localSignerKind,
    awsKmsSignerKind,
    googleCloudKmsSignerKind,
    azureKeyVaultSignerKind,
    vaultSignerKind,
    vaultTransitSignerKind,
    turnkeySignerKind,
    cdpSignerKind,
  ];
  return new Map(kinds.map((kind) => [kind.type, kind]));
}

/** A signer as the configuration declares it. */
export interface SignerDeclaration {
  id: string;
  type: string;
  config: unknown;
}

/**
 * Opens a declared signer. Nothing here keeps the configuration: it may have a key in it.
 * @throws AppError `SIGNER_UNUSABLE` that names the signer and the cause, and shows no secret
 */
export async function openSigner(kinds: SignerKinds, entry: SignerDeclaration, tools: KindTools): Promise<Signer> {
  const { id, type } = entry;
  const kind = kinds.get(type);
  if (kind === undefined) {
    throw unusable(id, `there is no signer type "${type}"; known: ${[...kinds.keys()].join(', ')}`);
  }
  const config = kind.configSchema.safeParse(entry.config);
  if (!config.success) {
    const [issue] = config.error.issues;
    throw unusable(id, [['config', ...(issue?.path ?? [])].join('.'), issue?.message].join(': '));
  }
  const read = new Set<string>();
  const secrets: KindTools['secrets'] = (secret) => {
    const value = tools.secrets(secret);
    read.add(value);
    return value;
  };
  try {
    return guardedSigner(await kind.create(id, config.data, { ...tools, secrets }), {
      ...tools,
      kind,
      secrets: read,
    });
  } catch (error) {
    const cause = withoutSecrets(error, read);
    throw unusable(id, cause.message, cause);
  }
}

function unusable(id: string, reason: string, cause?: unknown): AppError {
  return new AppError('SIGNER_UNUSABLE', { id, reason }, cause === undefined ? {} : { cause });
}

/** The opened signers of a running service. */
export interface KeyRing {
  /** @throws when the configuration declares no such signer */
  signer(id: string): Signer;
  /** Wipes the keys. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Opens every declared signer, side by side.
 * @throws AggregateError with one error for each signer that cannot be opened; the others are closed again
 */
export async function openKeyRing(
  kinds: SignerKinds,
  entries: readonly SignerDeclaration[],
  tools: SignerTools,
): Promise<KeyRing> {
  const attempts = await Promise.allSettled(
    entries.map((entry) => openSigner(kinds, entry, { ...tools, reread: async () => entry.config })),
  );
  const signers = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
  const failures: unknown[] = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []));
  const close = async (): Promise<void> => {
    await Promise.all(signers.map((signer) => signer.close()));
  };
  if (failures.length > 0) {
    await close();
    throw new AggregateError(failures, 'Not every signer could be opened');
  }
  const byId = new Map(signers.map((signer) => [signer.id, signer]));
  return {
    signer(id) {
      const signer = byId.get(id);
      if (signer === undefined) throw new Error(`No signer ${id} is declared`);
      return signer;
    },
    close,
  };
}
