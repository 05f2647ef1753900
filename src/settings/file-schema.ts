import { z } from 'zod';
import type { JsonObject } from '../domain/json/json.ts';
import { jsonSchemas } from '../domain/json/json-schema.ts';
import { pluginEntrySchema } from '../features/plugins/records/plugin.ts';
import type { KnownChains, KnownSignerKinds } from './configuration.ts';
import { networkEntrySchema } from './networks/network-files.ts';
import { notificationEntrySchema, relayerEntrySchema, signerEntrySchema } from './schema.ts';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';
const refer = (name: string) => `#/$defs/${name}`;
const list = (name: string, description: string) => ({ description, type: 'array', items: { $ref: refer(name) } });

/**
 * The JSON schema of the configuration file, for editors. It is made from the schemas that parse the file at a start.
 */
export function configurationSchema(chains: KnownChains, signerKinds: KnownSignerKinds): JsonObject {
  const relayers = [...chains].map(([type, { policySchema }]) =>
    relayerEntrySchema.extend({
      network_type: z.literal(type).describe('Type of the network'),
      policies: policySchema.optional().describe('What the relayer may do and pay'),
    }),
  );
  const signers = [...signerKinds].map(([type, { configSchema }]) =>
    signerEntrySchema.extend({
      type: z.literal(type).describe('Kind of signer, which says where the key is'),
      config: configSchema.describe('Settings of this kind of signer'),
    }),
  );
  const named = {
    Relayer: z.union(relayers),
    Signer: z.union(signers),
    Notification: notificationEntrySchema,
    Plugin: pluginEntrySchema,
  };
  return {
    $schema: DRAFT,
    title: 'Isolayer configuration',
    type: 'object',
    properties: {
      $schema: { type: 'string' },
      relayers: list('Relayer', 'Accounts that send transactions, each on one network and with one signer.'),
      signers: list('Signer', 'The keys that relayers sign with.'),
      notifications: list('Notification', 'Webhooks that receive the events of relayers.'),
      networks: {
        description: 'Networks, or the path of a folder with network files. Default: folder networks beside this file.',
        anyOf: [{ type: 'array', items: { $ref: refer('Network') } }, { type: 'string' }],
      },
      plugins: list('Plugin', 'Plugins with settings of their own. Scripts in the plugins folder need no entry.'),
    },
    additionalProperties: false,
    $defs: { ...jsonSchemas(named, 'input', refer), Network: networkSchema(chains) },
  };
}

/** The JSON schema of a file in the folder of networks: one network, or a list of them. */
export function networkFileSchema(chains: KnownChains): JsonObject {
  return {
    $schema: DRAFT,
    title: 'Isolayer network',
    anyOf: [
      { $ref: refer('Network') },
      {
        type: 'object',
        properties: { $schema: { type: 'string' }, networks: list('Network', 'Networks, which may inherit fields.') },
        required: ['networks'],
        additionalProperties: false,
      },
    ],
    $defs: { Network: networkSchema(chains) },
  };
}

/**
 * Allows the fields of every family. Fields may be absent, because an entry may inherit them, and `type` may be
 * inferred.
 */
function networkSchema(chains: KnownChains): JsonObject {
  const named = {
    entry: networkEntrySchema,
    ...Object.fromEntries([...chains].map(([type, chain]) => [type, chain.networkSchema])),
  };
  const fields: Record<string, JsonObject[]> = {};
  for (const { properties } of Object.values(jsonSchemas(named, 'input', refer))) {
    for (const [name, schema] of Object.entries((properties ?? {}) as Record<string, JsonObject>)) {
      const known = (fields[name] ??= []);
      if (!known.some((one) => JSON.stringify(one) === JSON.stringify(schema))) known.push(schema);
    }
  }
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(fields).map(([name, [first = {}, ...others]]) => [
        name,
        others.length === 0 ? first : { description: meaningOf([first, ...others]), anyOf: [first, ...others] },
      ]),
    ),
    required: ['network'],
    additionalProperties: false,
  };
}

/** Joins the descriptions of a field, which may differ between families. */
function meaningOf(forms: readonly JsonObject[]): string {
  const meanings = forms.flatMap(({ description }) => (typeof description === 'string' ? [description] : []));
  return [...new Set(meanings)].join('. On other network types: ');
}
