import { z } from 'zod';
import { invalidRequest } from '../../domain/errors.ts';
import type { Json, JsonObject } from '../../domain/json/json.ts';
import { type AddressGuard, BlockedAddressError } from '../../egress/address-guard.ts';
import type { SignerDeclaration, SignerKinds } from '../../signers/registry.ts';
import { resource } from '../resource.ts';
import type { StoredSigner } from './record.ts';
import type { SignerDirectory } from './signer-directory.ts';
import { readSignerForm, signerConfigView, signerTypeView } from './signer-form.ts';

/** A signer without its secrets. */
const signerSchema = z.strictObject({
  id: z.string(),
  type: z.string().meta({ description: 'Kind of signer; `local` for every key that the service itself holds' }),
  config: z
    .record(z.string(), z.unknown())
    .meta({ description: 'Configuration without secrets; an optional field that is not set is null' }),
});

export interface SignersDeps {
  signers: Pick<SignerDirectory, 'declared' | 'declaredOne' | 'kinds' | 'assertOpens'>;
  /** The signer kinds of the configuration. */
  signerKinds: SignerKinds;
  /** Checks the addresses of signing services. */
  signerGuard: Pick<AddressGuard, 'checkUrl'>;
  /** Whether clients may make signers that use the server's own identity at a cloud. */
  signersUseServerIdentity: boolean;
}

const NO_UPDATES =
  'Signer updates are not allowed for security reasons. Please delete the existing signer and create a new one with the desired configuration.';

const OF_THE_SERVER =
  ' of this server, and over the API a signer brings its own; send them, or have the operator declare the signer in the configuration or set API_SIGNERS_USE_SERVER_IDENTITY=true';

/** A signer of a client, or of the configuration; `shown` is its configuration without secrets. */
type KnownSigner = Pick<StoredSigner, 'id' | 'type' | 'shown'>;

/** The keys that relayers sign with. No answer contains a secret. */
export const signerResource = resource<KnownSigner, SignersDeps>({
  name: 'signer',
  noun: 'signer',
  tag: 'Signers',
  about: 'Keys that relayers sign with. Responses never contain their secrets.',
  exampleId: 'my-key',
  schema: signerSchema,
  list: { answer: 'Signers created over the API, newest first; then configured ones' },
  create: {
    description:
      'A key of type `plain` is sealed before it is stored. A service that holds the key is called only when a ' +
      'relayer is created with the signer. Such a service must not be in a private network.',
    body: ({ signer }) => signer,
  },
  update: {
    summary: 'Update a signer (always refused)',
    description: 'A signer cannot be changed. Delete its relayers and the signer, then create a new signer.',
    body: { schema: z.strictObject({}), isOptional: true, example: {} },
    answer: 'Never returned',
  },
  remove: { summary: 'Delete a signer that was created over the API and that no relayer uses' },

  view: ({ id, type, shown }) => ({ id, type: signerTypeView(type), config: shown }),

  on({ signers, signerKinds, signerGuard, signersUseServerIdentity, newId }) {
    function declaredSigner({ id, type, config }: SignerDeclaration): KnownSigner {
      const kind = signerKinds.get(type);
      return { id, type, shown: kind === undefined ? {} : signerConfigView(kind, config as JsonObject) };
    }

    return {
      async find(read, id) {
        const declared = signers.declaredOne(id);
        return declared === undefined ? await read.storedSigner(id) : declaredSigner(declared);
      },

      async list(read, { page, perPage }) {
        // Clients' signers come first. Configured signers fill the rest of the page.
        const { declared } = signers;
        const { items, total } = await read.storedSigners({ page, perPage });
        const from = Math.max(0, (page - 1) * perPage - total);
        const rest = declared.slice(from, from + perPage - items.length);
        return { items: [...items, ...rest.map(declaredSigner)], total: total + declared.length };
      },

      async create(body) {
        const { id: asked, kind, config } = readSignerForm(body, signers.kinds);
        const shown = signerConfigView(kind, config);
        checkAddresses(shown, signerGuard);
        const borrowed = signersUseServerIdentity ? undefined : kind.serverIdentity?.(kind.configSchema.parse(config));
        if (borrowed !== undefined) throw invalidRequest(`config: ${borrowed}${OF_THE_SERVER}`);
        const id = asked ?? newId();
        await signers.assertOpens(id, kind.type, config);
        const signer = { id, type: kind.type, stamp: newId(), shown };
        return {
          id,
          async write(writer) {
            await writer.insertSigner(signer, config);
            return { now: signer, secrets: ['config'] };
          },
        };
      },

      async update(_body, _by, seen) {
        await seen();
        throw invalidRequest(NO_UPDATES);
      },

      assertRemovable({ id }) {
        if (signers.declaredOne(id) === undefined) return;
        throw invalidRequest(`Signer ${id} is declared in the configuration, and can only be removed there`);
      },
      useOf: ({ id }) => ({ signerId: id }),
      remove: (writer, { id }) => writer.deleteSigner(id),
    };
  },
});

/**
 * Checks every address in a configuration, at any depth.
 * @param place the field that holds the address, as the body names it
 * @throws AppError `INVALID_REQUEST` for a service that must not be called
 */
function checkAddresses(value: Json, guard: SignersDeps['signerGuard'], place = 'config'): void {
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
