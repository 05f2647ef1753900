import { z } from 'zod';
import type { Chain } from '../../chains/chain.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { isObject, type JsonObject } from '../../domain/json/json.ts';
import { networkTypeSchema } from '../../domain/network-type.ts';
import { inheritedFields } from '../../settings/networks/networks.ts';
import type { RpcUrl } from '../relayers/records/relayer.ts';
import { parseBody } from '../request-body.ts';
import type { Network } from './record.ts';
import { networkUrlsSchema } from './rpc-urls.ts';

const nameSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'a name has 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter or digit',
  );

/** A field that only networks of the configuration have: its addresses hold keys, and settings are stored in clear. */
export const CONFIG_ONLY_FIELD = 'private_rpc_urls';

/** @throws AppError `INVALID_REQUEST` for a field that only networks of the configuration have */
export function refuseConfigOnlyField(body: unknown): void {
  if (!isObject(body) || !Object.hasOwn(body, CONFIG_ONLY_FIELD)) return;
  throw invalidRequest(`${CONFIG_ONLY_FIELD}: only a network of the configuration files can have it`);
}

/** The fields of every network. */
const commonFields = {
  name: nameSchema,
  network_type: networkTypeSchema,
  from: z.string().optional().describe('Name of a network of the same type whose present fields are copied'),
  rpc_urls: networkUrlsSchema.optional().describe('RPC endpoints; required unless `from` is given'),
};

type Family = Pick<Chain, 'networkSchema' | 'type'>;

/** The body that makes a network of a family. */
export function networkCreateSchema(family: Family) {
  const fields = { ...commonFields, ...fieldsOf(family), network_type: z.literal(family.type) };
  return z.strictObject(fields);
}

/** The body that changes a network. Absent fields stay. Null removes a field that the family has a default for. */
export function networkUpdateSchema(family: Family) {
  const own = Object.entries(fieldsOf(family)).map(([name, schema]) => [name, nullish(schema)]);
  return z
    .strictObject({
      rpc_urls: networkUrlsSchema.nullish(),
      ...(Object.fromEntries(own) as Record<string, z.ZodType>),
    })
    .meta({ minProperties: 1 });
}

function nullish(schema: z.core.$ZodType): z.ZodType {
  return z.union([schema, z.null()]).optional();
}

/** The fields that only a family's networks have. */
function fieldsOf({ networkSchema, type }: Family): Record<string, z.core.$ZodType> {
  // The schema may be a pipe whose second part converts the settings to JSON.
  const form = networkSchema instanceof z.ZodPipe ? networkSchema.in : networkSchema;
  if (form instanceof z.ZodObject) {
    const { [CONFIG_ONLY_FIELD]: _, ...shape } = form.shape as Record<string, z.core.$ZodType>;
    return shape;
  }
  throw new TypeError(`the settings of ${type} networks are no object`);
}

/** The network that a client asks for. */
export interface NetworkForm extends Omit<Network, 'rpcUrls' | 'settings'> {
  from: string | undefined;
  rpcUrls: RpcUrl[] | undefined;
  /** The family's own fields as given. The family parses them once they are complete. */
  fields: JsonObject;
}

/**
 * Reads a body that makes a network.
 * @throws AppError `INVALID_REQUEST`
 */
export function readNetworkForm(body: unknown, familyOf: (type: Network['type']) => Family): NetworkForm {
  refuseConfigOnlyField(body);
  const { network_type: type } = parseBody(z.looseObject({ network_type: networkTypeSchema }), body);
  const { name, from, rpc_urls: rpcUrls } = parseBody(networkCreateSchema(familyOf(type)), body);
  return { type, name, from, rpcUrls, fields: familyFieldsOf(body as JsonObject) };
}

/** Parses the settings with the family's schema, including those inherited from the parent. */
export function parseNetworkSettings({ networkSchema }: Family, parent: JsonObject, fields: JsonObject): JsonObject {
  const { [CONFIG_ONLY_FIELD]: _, ...inherited } = inheritedFields(parent, fields);
  return parseBody(networkSchema, withoutNulls(inherited));
}

/** Returns the settings after a change. Null removes a field. */
export function changeNetworkSettings({ networkSchema }: Family, before: JsonObject, fields: JsonObject): JsonObject {
  return parseBody(networkSchema, withoutNulls({ ...before, ...fields }));
}

/** A body without the fields that every network has. */
export function familyFieldsOf(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([key]) => !Object.hasOwn(commonFields, key)));
}

function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
