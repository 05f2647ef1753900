import { AppError, invalidRequest } from '../../domain/errors.ts';
import type { Json, JsonObject, WireObject } from '../../domain/json/json.ts';
import type { Page, PageRequest } from '../../domain/page.ts';
import { type AddressGuard, BlockedAddressError } from '../../egress/address-guard.ts';
import type { SignerDeclaration, SignerKinds } from '../../signers/registry.ts';
import type { Store } from '../../store/store.ts';
import type { Caller } from '../api-keys/records/caller.ts';
import type { AuditedChange } from '../audit/record.ts';
import { visibleRelayerUsers } from '../relayers/records/relayer-users.ts';
import { changeSettingsOnce } from '../settings-change.ts';
import type { StoredSigner } from './record.ts';
import type { SignerDirectory } from './signer-directory.ts';
import { readSignerForm, signerConfigView, signerTypeView } from './signer-form.ts';

/** The keys that relayers sign with. Views never hold a secret. */
export interface SignersService {
  get(id: string): Promise<WireObject>;
  list(page: PageRequest): Promise<Page<WireObject>>;
  /** 400; 409 for an id that is taken. Does not call the service that holds the key. */
  create(body: unknown, by: Caller): Promise<WireObject>;
  /** Always refused: 404, otherwise 400. A signer cannot be changed. */
  update(id: string): Promise<never>;
  /** 404; 400 for a configured signer; 409 while relayers use it. */
  remove(id: string, by: Caller): Promise<void>;
}

export interface SignersDeps {
  store: Store;
  signers: Pick<SignerDirectory, 'declared' | 'declaredOne' | 'kinds' | 'assertOpens'>;
  /** The signer kinds of the configuration. */
  kinds: SignerKinds;
  /** Checks the addresses of signing services. */
  guard: Pick<AddressGuard, 'checkUrl'>;
  /** Whether clients may make signers that use the server's own identity at a cloud. */
  usesServerIdentity: boolean;
  /** A new id (`domain/id.ts`). */
  newId(): string;
}

const NO_UPDATES =
  'Signer updates are not allowed for security reasons. Please delete the existing signer and create a new one with the desired configuration.';

const OF_THE_SERVER =
  ' of this server, and over the API a signer brings its own; send them, or have the operator declare the signer in the configuration or set API_SIGNERS_USE_SERVER_IDENTITY=true';

export function createSignersService(deps: SignersDeps): SignersService {
  const { store, signers, kinds, guard, usesServerIdentity, newId } = deps;

  function declaredView(entry: SignerDeclaration): JsonObject {
    const kind = kinds.get(entry.type);
    const config = kind === undefined ? {} : signerConfigView(kind, entry.config as JsonObject);
    return { id: entry.id, type: signerTypeView(entry.type), config };
  }

  async function find(id: string): Promise<JsonObject> {
    const declared = signers.declaredOne(id);
    if (declared !== undefined) return declaredView(declared);
    const stored = await store.read.storedSigner(id);
    if (stored === undefined) throw new AppError('SIGNER_NOT_FOUND', { id });
    return storedView(stored);
  }

  return {
    get: find,

    async list({ page, perPage }) {
      // Clients' signers come first. Configured signers fill the rest of the page.
      const { declared } = signers;
      const { items, total } = await store.read.storedSigners({ page, perPage });
      const from = Math.max(0, (page - 1) * perPage - total);
      const rest = declared.slice(from, from + perPage - items.length);
      return { items: [...items.map(storedView), ...rest.map(declaredView)], total: total + declared.length };
    },

    async create(body, by) {
      const { id: asked, kind, config } = readSignerForm(body, signers.kinds);
      checkAddresses(signerConfigView(kind, config), guard);
      const borrowed = usesServerIdentity ? undefined : kind.serverIdentity?.(kind.configSchema.parse(config));
      if (borrowed !== undefined) throw invalidRequest(`config: ${borrowed}${OF_THE_SERVER}`);
      const id = asked ?? newId();
      await signers.assertOpens(id, kind.type, config);
      const signer = { id, type: kind.type, stamp: newId(), shown: signerConfigView(kind, config) };
      const { made } = await changeSettingsOnce(store, by, async (writer) => {
        const isTaken = signers.declaredOne(id) ?? (await writer.storedSigner(id));
        if (isTaken !== undefined) throw new AppError('SIGNER_EXISTS', { id });
        await writer.insertSigner(signer, config);
        const after = storedView(signer);
        return { outcome: after, audit: { ...audited('create', id, { before: null, after }), secrets: ['config'] } };
      });
      return made.outcome as WireObject;
    },

    async update(id) {
      await find(id);
      throw invalidRequest(NO_UPDATES);
    },

    async remove(id, by) {
      await changeSettingsOnce(store, by, async (writer) => {
        if (signers.declaredOne(id) !== undefined) {
          throw invalidRequest(`Signer ${id} is declared in the configuration, and can only be removed there`);
        }
        const before = await writer.storedSigner(id);
        if (before === undefined) throw new AppError('SIGNER_NOT_FOUND', { id });
        const users = (await writer.allRelayers()).filter(({ signerId }) => signerId === id);
        if (users.length > 0) {
          throw new AppError('SIGNER_IN_USE', { id, ...visibleRelayerUsers(users, by) });
        }
        await writer.deleteSigner(id);
        return { outcome: null, audit: audited('delete', id, { before: storedView(before), after: null }) };
      });
    },
  };
}

/**
 * Checks every address in a configuration, at any depth.
 * @param place the field that holds the address, as the body names it
 * @throws AppError `INVALID_REQUEST` for a service that must not be called
 */
function checkAddresses(value: Json, guard: SignersDeps['guard'], place = 'config'): void {
  if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) checkAddresses(inner, guard, `${place}.${name}`);
    return;
  }
  const url = typeof value === 'string' && /^https?:/i.test(value) ? URL.parse(value) : null;
  try {
    if (url !== null) guard.checkUrl(url);
  } catch (error) {
    if (!(error instanceof BlockedAddressError)) throw error;
    throw invalidRequest(`${place}: ${error.message}`, error);
  }
}

function storedView({ id, type, shown }: StoredSigner): JsonObject {
  return { id, type: signerTypeView(type), config: shown };
}

function audited(
  action: AuditedChange['action'],
  resourceId: string,
  views: Pick<AuditedChange, 'before' | 'after'>,
): AuditedChange {
  return { action, resource: 'signer', resourceId, ...views };
}
