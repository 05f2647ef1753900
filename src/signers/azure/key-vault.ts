import { z } from 'zod';
import { publicKeyOfJwk } from '../remote/public-key.ts';
import { createRemoteSigner } from '../remote/remote-signer.ts';
import { createServiceClient, REMOTE_LIMIT_MS, serviceUrlSchema, textAt } from '../remote/service-client.ts';
import type { SignerKind } from '../signer.ts';
import { azureAccessFields, createAzureTokens, missingField } from './access.ts';

const API = 'api-version=7.4';

/** What tokens are for, and where they come from, in each of Azure's clouds. */
const CLOUDS = [
  { vaults: /\.(?<resource>(?:vault|managedhsm)\.azure\.net)$/, authority: 'https://login.microsoftonline.com' },
  { vaults: /\.(?<resource>vault\.usgovcloudapi\.net)$/, authority: 'https://login.microsoftonline.us' },
  { vaults: /\.(?<resource>vault\.azure\.cn)$/, authority: 'https://login.partner.microsoftonline.cn' },
];

const configSchema = z
  .strictObject({
    ...azureAccessFields,
    vault_url: serviceUrlSchema.describe('Of the vault, for instance https://my-vault.vault.azure.net'),
    key_name: z
      .string()
      .regex(/^[A-Za-z0-9-]+$/, 'not the name of a key')
      .describe('The key'),
    key_version: z
      .string()
      .regex(/^[A-Za-z0-9]+$/, 'not a version')
      .optional()
      .describe('Absent: the newest at the start'),
  })
  .check((context) => {
    const field = missingField(context.value);
    if (field === undefined) return;
    const message = `${context.value.auth_type} needs it`;
    context.issues.push({ code: 'custom', path: [field], message, input: context.value });
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
  limitMs: REMOTE_LIMIT_MS,
  async create(id, config, tools) {
    const client = createServiceClient('Azure Key Vault', (body) => textAt(body, ['error', 'message']), tools);
    const tokens = createAzureTokens(config, cloudOf(config), tools);
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const base = `${config.vault_url.replace(/\/+$/, '')}/keys/${config.key_name}`;

    return createRemoteSigner(id, async () => {
      const asked = new URL(`${base}${config.key_version === undefined ? '' : `/${config.key_version}`}?${API}`);
      const { key } = await tokens.use((token) =>
        client.ask({ url: asked, headers: bearer(token), answer: keySchema }),
      );
      if (key.crv !== 'P-256K' && key.crv !== 'SECP256K1') throw new Error(`its key is of type ${key.kty} ${key.crv}`);
      // This version signs from now on, whichever is the newest by then: the address is made of it.
      const version = new URL(key.kid).pathname.split('/').at(-1);
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

function cloudOf(config: z.output<typeof configSchema>): { resource: string; authority: string } {
  const { hostname } = new URL(config.vault_url);
  for (const { vaults, authority } of CLOUDS) {
    const resource = vaults.exec(hostname)?.groups?.['resource'];
    if (resource === undefined) continue;
    return { resource: `https://${resource}`, authority: config.authority_host ?? authority };
  }
  const [{ authority }] = CLOUDS as [(typeof CLOUDS)[number]];
  return { resource: 'https://vault.azure.net', authority: config.authority_host ?? authority };
}
