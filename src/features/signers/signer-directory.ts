import { AppError, invalidRequest } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import type { Log } from '../../observability/log.ts';
import { type KeyRing, openSigner, type SignerDeclaration, type SignerKinds } from '../../signers/registry.ts';
import type { Signer, SignerKind, SignerTools } from '../../signers/signer.ts';
import { UnsealableSecret } from '../../store/sealing.ts';
import type { StoreReader } from '../../store/store.ts';
import { clientSignerKinds } from './signer-form.ts';

export interface SignerDirectoryDeps {
  /** The signers of the configuration, already opened. */
  declared: { ring: Pick<KeyRing, 'signer'>; entries: readonly SignerDeclaration[] };
  read: Pick<StoreReader, 'storedSigner' | 'signerConfig'>;
  kinds: SignerKinds;
  tools: SignerTools;
  log: Log;
}

/** All signers: those of the configuration, and clients' signers. A client's signer is opened when it is first used. */
export class SignerDirectory {
  readonly #deps: SignerDirectoryDeps;
  readonly #entries: ReadonlyMap<string, SignerDeclaration>;
  readonly #opened = new Map<string, { stamp: string; signer: Promise<Signer> }>();
  /** The kinds that clients can make signers of. */
  readonly kinds: SignerKinds;

  constructor(deps: SignerDirectoryDeps) {
    this.#deps = deps;
    this.#entries = new Map(deps.declared.entries.map((entry) => [entry.id, entry]));
    this.kinds = clientSignerKinds(deps.kinds);
  }

  /** The signers of the configuration, sorted by id. */
  get declared(): readonly SignerDeclaration[] {
    return [...this.#entries.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  declaredOne(id: string): SignerDeclaration | undefined {
    return this.#entries.get(id);
  }

  /**
   * The current signer. A signer that was deleted and created again has another key.
   * @throws AppError `SIGNER_NOT_FOUND`, `SIGNER_UNUSABLE`
   */
  async signer(id: string): Promise<Signer> {
    if (this.#entries.has(id)) return this.#deps.declared.ring.signer(id);
    const stored = await this.#deps.read.storedSigner(id);
    const known = this.#opened.get(id);
    if (known !== undefined && known.stamp === stored?.stamp) return await known.signer;
    if (known !== undefined) this.#forget(id, known.signer);
    if (stored === undefined) throw new AppError('SIGNER_NOT_FOUND', { id });
    const { stamp, type } = stored;
    const signer = this.#open(id, stamp, type);
    this.#opened.set(id, { stamp, signer });
    signer.catch(() => {
      if (this.#opened.get(id)?.signer === signer) this.#opened.delete(id);
    });
    return await signer;
  }

  /**
   * Returns the curves and network types that a signer can sign for.
   * @throws AppError `SIGNER_NOT_FOUND`
   */
  async reach(id: string): Promise<Pick<SignerKind, 'curves' | 'notFor'>> {
    const declared = this.#entries.get(id);
    const stored = declared === undefined ? await this.#deps.read.storedSigner(id) : undefined;
    const type = declared?.type ?? stored?.type;
    if (type === undefined) throw new AppError('SIGNER_NOT_FOUND', { id });
    const known = this.#deps.kinds.get(type) ?? this.kinds.get(type);
    const kind: Pick<SignerKind, 'curves' | 'curvesOf' | 'notFor'> = known ?? { curves: [] };
    return { ...kind, curves: kind.curvesOf?.(declared?.config ?? stored?.shown) ?? kind.curves };
  }

  /**
   * Opens a client's signer and closes it again, so that a key or a credential without the right form is told at once.
   * Asks no other service.
   * @throws AppError `INVALID_REQUEST`, which shows no secret
   */
  async assertOpens(id: string, type: string, config: JsonObject): Promise<void> {
    try {
      await (await this.#openAs(id, type, async () => config)).close();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'SIGNER_UNUSABLE') throw error;
      throw invalidRequest(`config: ${String(error.details['reason'])}`, error);
    }
  }

  /** Wipes the keys of clients' signers. Safe to call twice. */
  async close(): Promise<void> {
    const all = [...this.#opened.values()];
    this.#opened.clear();
    await Promise.all(all.map(({ signer }) => signer.then((one) => one.close()).catch(() => {})));
  }

  async #open(id: string, stamp: string, type: string): Promise<Signer> {
    return await this.#openAs(id, type, async () => {
      const config = await this.#deps.read.signerConfig(id, stamp).catch((error: unknown) => {
        throw error instanceof UnsealableSecret
          ? new AppError('SIGNER_UNUSABLE', { id, reason: error.message }, { cause: error })
          : error;
      });
      if (config === undefined) throw new AppError('SIGNER_NOT_FOUND', { id });
      return config;
    });
  }

  async #openAs(id: string, type: string, reread: () => Promise<JsonObject>): Promise<Signer> {
    const { tools } = this.#deps;
    const secrets = ownSecrets(tools.secrets, this.kinds.get(type)?.variables ?? []);
    return await openSigner(this.kinds, { id, type, config: await reread() }, { ...tools, secrets, reread });
  }

  /** Closes a signer after its running signatures have ended. */
  #forget(id: string, signer: Promise<Signer>): void {
    this.#opened.delete(id);
    signer
      .then((one) => one.close())
      .catch((error: unknown) => this.#deps.log.debug({ err: error, signer: id }, 'a signer was not closed'));
  }
}

/**
 * Resolves secrets of clients' signers. A client must not name variables, because they would be those of the service.
 * Only the variables that the kind itself reads are available.
 */
function ownSecrets(secrets: SignerTools['secrets'], ofKind: readonly string[]): SignerTools['secrets'] {
  return (secret) => {
    if (secret.type === 'plain') return secret.value;
    if (ofKind.includes(secret.value)) return secrets(secret);
    throw new Error('a secret of a signer that a client made is never in the environment');
  };
}
