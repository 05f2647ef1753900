import { z } from 'zod';
import { publicKeyOfJwk } from '../remote/public-key.ts';
import { createRemoteSigner } from '../remote/remote-signer.ts';
import { createServiceClient, REMOTE_LIMIT_MS, serviceUrlSchema, textAt } from '../remote/service-client.ts';
import type { SignerKind } from '../signer.ts';
import { AZURE_VARIABLES, azureAccessFields, createAzureTokens, missingField } from './entra-id.ts';

const API = 'api-version=7.4';

/** The resource of tokens and the authority that gives them out, in each of Azure's clouds. */
const CLOUDS = [
  { vaults: /\.(?<resource>(?:vault|managedhsm)\.azure\.net)$/, authority: 'https://login.microsoftonline.com' },
  { vaults: /\.(?<resource>vault\.usgovcloudapi\.net)$/, authority: 'https://login.microsoftonline.us' },
  { vaults: /\.(?<resource>vault\.azure\.cn)$/, authority: 'https://login.partner.microsoftonline.cn' },
];

const configSchema = z
  .strictObject({
    ...azureAccessFields,
    vault_url: serviceUrlSchema.describe('URL of the vault, for instance https://my-vault.vault.azure.net'),
    key_name: z
      .string()
      .regex(/^[A-Za-z0-9-]+$/, 'not the name of a key')
      .describe('Name of the key'),
    key_version: z
      .string()
      .regex(/^[A-Za-z0-9]+$/, 'not a version')
      .nullish()
      .describe('Version of the key. Default: the newest at the start'),
  })
  .check((context) => {
    const { value: input, issues } = context;
    const field = missingField(input);
    if (field !== undefined) {
      issues.push({ code: 'custom', path: [field], message: `${input.auth_type} needs it`, input });
    }
    // A client that sets `vault_url` must not receive a token that other vaults accept. Only the operator's files may
    // set `authority_host`, which allows other hosts.
    if (accessTo(input) === undefined) {
      const message = 'not https and the host of a vault of Azure; for others say authority_host too';
      issues.push({ code: 'custom', path: ['vault_url'], message, input });
    }
  });

const keySchema = z.object({
  key: z.object({ kid: z.url(), kty: z.string(), crv: z.string().optional(), x: z.string(), y: z.string() }),
});
const signedSchema = z.object({ value: z.base64url() });

/** `azure_key_vault`: a key of Azure Key Vault or of a Managed HSM, over its REST interface. */
export const azureKeyVaultSignerKind: SignerKind<z.output<typeof configSchema>> = {
  type: 'azure_key_vault',
  curves: ['secp256k1'],
  configSchema,
  ofFilesOnly: ['authority_host', 'federated_token_file'],
  shownAllTheSame: ['tenant_id', 'client_id'],
  variables: AZURE_VARIABLES,
  serverIdentity: ({ auth_type: type }) =>
    type === 'client_secret' ? undefined : `with auth_type ${type} it logs in by an identity`,
  limitMs: REMOTE_LIMIT_MS,
  async create(id, config, tools) {
    const client = createServiceClient('Azure Key Vault', (body) => textAt(body, ['error', 'message']), tools);
    const access = accessTo(config);
    if (access === undefined) throw new Error('nobody is known who gives out tokens for vault_url');
    const tokens = createAzureTokens(config, access, tools);
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const base = `${config.vault_url.replace(/\/+$/, '')}/keys/${config.key_name}`;

    return createRemoteSigner(id, async () => {
      const wanted = config.key_version ?? undefined;
      const asked = new URL(`${base}${wanted === undefined ? '' : `/${wanted}`}?${API}`);
      const { key } = await tokens.use((token) =>
        client.ask({ url: asked, headers: bearer(token), answer: keySchema }),
      );
      if (key.crv !== 'P-256K' && key.crv !== 'SECP256K1') throw new Error(`its key is of type ${key.kty} ${key.crv}`);
      // This version signs from now on, even when a newer one exists: the address is derived from it.
      const version = new URL(key.kid).pathname.split('/').at(-1);
      if (wanted !== undefined && version?.toLowerCase() !== wanted.toLowerCase()) {
        throw new Error(`version ${wanted} was asked for, and ${version} came back`);
      }
      return {
        publicKey: publicKeyOfJwk(key),
        async sign(digest) {
          const body = JSON.stringify({ alg: 'ES256K', value: Buffer.from(digest).toString('base64url') });
          const { value } = await tokens.use((token) => {
            const headers = { ...bearer(token), 'content-type': 'application/json' };
            const url = new URL(`${base}/${version}/sign?${API}`);
            return client.ask({ url, headers, body, answer: signedSchema });
          });
          return Buffer.from(value, 'base64url');
        },
      };
    });
  },
};

/** The resource of tokens and the authority that gives them out. Undefined when nothing tells them. */
function accessTo({
  vault_url,
  authority_host,
}: {
  vault_url: string;
  authority_host?: string | undefined;
}): { resource: string; authority: string } | undefined {
  const { protocol, hostname } = new URL(vault_url);
  for (const { vaults, authority } of protocol === 'https:' ? CLOUDS : []) {
    const resource = vaults.exec(hostname)?.groups?.['resource'];
    if (resource !== undefined) return { resource: `https://${resource}`, authority: authority_host ?? authority };
  }
  return authority_host === undefined ? undefined : { resource: 'https://vault.azure.net', authority: authority_host };
}
