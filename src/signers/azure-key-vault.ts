import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { fileErrorCode } from '../settings/json-file.ts';
import { type AccessToken, type AccessTokens, createAccessTokens } from './remote/access-token.ts';
import { createRemoteSigner } from './remote/remote-signer.ts';
import {
  createServiceClient,
  REMOTE_LIMIT_MS,
  readTextAtPath,
  type ServiceRequest,
  serviceUrlSchema,
} from './remote/service-client.ts';
import { publicKeyOfJwk } from './remote/signature.ts';
import { readVariable, type SignerKind, type SignerTools, secretSchema } from './signer.ts';

/** How the service proves to Microsoft Entra ID who it is. */
export const azureAccessFields = {
  auth_type: z
    .enum(['client_secret', 'managed_identity', 'workload_identity'])
    .default('client_secret')
    .describe('How to log in: by a secret, the identity of the machine, or a token of the cluster'),
  tenant_id: secretSchema.nullish().describe('Id of the tenant; required except for managed_identity'),
  client_id: secretSchema.nullish().describe('Id of the application, or of one of several managed identities'),
  client_secret: secretSchema.nullish().describe('Secret of the application; required for client_secret'),
  federated_token_file: z
    .union([z.string().min(1), secretSchema])
    .nullish()
    .describe('Token file for workload_identity. Default: the file that AZURE_FEDERATED_TOKEN_FILE names'),
  authority_host: serviceUrlSchema
    .optional()
    .describe('URL of the token server. Default: that of the cloud of vault_url, if it is a known one'),
};

export type AzureAccessConfig = z.output<z.ZodObject<typeof azureAccessFields>>;

/** The first field that is missing for the way of access; undefined when none is missing. */
export function missingField({ auth_type, ...config }: AzureAccessConfig): string | undefined {
  const needed = {
    client_secret: ['tenant_id', 'client_id', 'client_secret'],
    workload_identity: ['tenant_id', 'client_id'],
    managed_identity: [],
  } as const;
  return needed[auth_type].find((field) => (config[field] ?? undefined) === undefined);
}

/** The variables that the clouds' own clients go by. */
const AZURE_VARIABLES = [
  'AZURE_IMDS_TOKEN_URL',
  'AZURE_FEDERATED_TOKEN_FILE',
  'IDENTITY_ENDPOINT',
  'IDENTITY_HEADER',
] as const;

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
    const client = createServiceClient('Azure Key Vault', (body) => readTextAtPath(body, ['error', 'message']), tools);
    const access = accessTo(config);
    if (access === undefined) throw new Error('nobody is known who gives out tokens for vault_url');
    const tokens = createAzureTokens(config, access, tools);
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const base = `${config.vault_url.replace(/\/+$/, '')}/keys/${config.key_name}`;

    return createRemoteSigner(id, async () => {
      const wanted = config.key_version ?? undefined;
      const keyUrl = new URL(`${base}${wanted === undefined ? '' : `/${wanted}`}?${API}`);
      const { key } = await tokens.use((token) =>
        client.ask({ url: keyUrl, headers: bearer(token), answer: keySchema }),
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

const METADATA_URL = 'http://169.254.169.254/metadata/identity/oauth2/token';

const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** The life of a token when the answer does not tell it. */
const UNKNOWN_SECONDS = 300;

const seconds = z.union([z.number(), z.string().regex(/^\d+$/)]).transform(Number);

const tokenSchema = z.object({
  access_token: z.string().min(1),
  expires_in: seconds.optional(),
  expires_on: seconds.optional(),
});

/**
 * Gets tokens for a resource.
 * @param authority the URL at which the directory gives out tokens
 */
export function createAzureTokens(
  config: AzureAccessConfig,
  { resource, authority }: { resource: string; authority: string },
  tools: SignerTools,
): AccessTokens {
  const isManaged = config.auth_type === 'managed_identity';
  const client = createServiceClient(
    'The token service of Azure',
    (body) => readTextAtPath(body, ['error_description'], ['error', 'message'], ['message'], ['error']),
    isManaged ? { ...tools, http: tools.identity } : tools,
  );

  async function tokenBy(question: Omit<ServiceRequest<never>, 'answer'>): Promise<AccessToken> {
    const { access_token, expires_in, expires_on } = await client.ask({ ...question, answer: tokenSchema });
    const left = expires_on === undefined ? UNKNOWN_SECONDS : expires_on - tools.clock.now() / 1_000;
    return { text: access_token, lifeMs: (expires_in ?? left) * 1_000 };
  }

  const valueOf = (value: AzureAccessConfig['client_id']) =>
    value === null || value === undefined ? undefined : tools.secrets(value);
  const clientId = valueOf(config.client_id);
  if (isManaged) {
    const { url, headers } = machineEndpoint(tools.secrets);
    url.searchParams.set('resource', resource);
    if (clientId !== undefined) url.searchParams.set('client_id', clientId);
    return createAccessTokens(() => tokenBy({ url, headers }), tools.clock);
  }

  const tenant = valueOf(config.tenant_id) ?? '';
  if (!/^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(tenant)) throw new Error('tenant_id is not the id or the domain of a tenant');
  const proof = proofOf(config, tools);
  return createAccessTokens(async () => {
    const fields = { client_id: clientId ?? '', scope: `${resource}/.default`, grant_type: 'client_credentials' };
    const shown = await proof();
    return await tokenBy({
      url: new URL(`${authority.replace(/\/+$/, '')}/${tenant}/oauth2/v2.0/token`),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...fields, ...shown }).toString(),
      credentials: [shown['client_secret'] ?? '', shown['client_assertion'] ?? ''],
    });
  }, tools.clock);
}

/**
 * Where a machine gets its tokens. App Service, Functions and Container Apps name an endpoint and a secret for it in
 * their environment. Other machines have the metadata service.
 * https://learn.microsoft.com/azure/app-service/overview-managed-identity#rest-endpoint-reference
 */
function machineEndpoint(secrets: SignerTools['secrets']): { url: URL; headers: Record<string, string> } {
  const [imds, , endpoint, header] = AZURE_VARIABLES.map((name) => readVariable(secrets, name));
  if (imds === undefined && endpoint !== undefined && header !== undefined) {
    const url = URL.parse(endpoint);
    if (url === null) throw new Error('IDENTITY_ENDPOINT is not a URL');
    url.searchParams.set('api-version', '2019-08-01');
    return { url, headers: { 'x-identity-header': header } };
  }
  const url = new URL(imds ?? METADATA_URL);
  url.searchParams.set('api-version', '2018-02-01');
  return { url, headers: { metadata: 'true' } };
}

function proofOf(config: AzureAccessConfig, { secrets }: SignerTools): () => Promise<Record<string, string>> {
  if (config.auth_type === 'client_secret') {
    const { client_secret: given } = config;
    const secret = given === null || given === undefined ? '' : secrets(given);
    return async () => ({ client_secret: secret });
  }
  const { federated_token_file: given } = config;
  const named = typeof given === 'object' && given !== null ? secrets(given) : given;
  const path = named ?? readVariable(secrets, 'AZURE_FEDERATED_TOKEN_FILE');
  if (path === undefined) {
    throw new Error('workload_identity needs federated_token_file, or AZURE_FEDERATED_TOKEN_FILE');
  }
  // Reads the file each time: the cluster replaces it long before a token ends.
  return async () => ({ client_assertion_type: ASSERTION, client_assertion: await readToken(path) });
}

async function readToken(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    throw new Error(`the federated token file cannot be read (${fileErrorCode(error)})`);
  }
}
