import { AppError } from '../domain/errors.ts';
import { localSignerKind } from './local.ts';
import type { SecretResolver, Signer, SignerKind } from './signer.ts';

/** The kinds of signers, by the `type` that the configuration names. */
export type SignerKinds = ReadonlyMap<string, SignerKind>;

/** All kinds that the service knows. */
export function createSignerKinds(): SignerKinds {
  return new Map([localSignerKind].map((kind) => [kind.type, kind]));
}

/** A signer as the configuration declares it. */
export interface SignerEntry {
  id: string;
  type: string;
  config: unknown;
}

/**
 * Opens a declared signer.
 * @throws AppError `SIGNER_UNUSABLE` naming the signer and the cause
 */
export async function openSigner(kinds: SignerKinds, entry: SignerEntry, secrets: SecretResolver): Promise<Signer> {
  const kind = kinds.get(entry.type);
  if (kind === undefined) {
    const known = [...kinds.keys()].join(', ');
    throw unusable(entry.id, `there is no signer type "${entry.type}"; known: ${known}`);
  }
  const config = kind.configSchema.safeParse(entry.config);
  if (!config.success) {
    const [issue] = config.error.issues;
    throw unusable(entry.id, [['config', ...(issue?.path ?? [])].join('.'), issue?.message].join(': '));
  }
  return kind.create(entry.id, config.data, secrets);
}

function unusable(id: string, reason: string): AppError {
  return new AppError('SIGNER_UNUSABLE', { id, reason });
}
