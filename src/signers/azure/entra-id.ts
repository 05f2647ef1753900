import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { codeOf } from '../../config/json-file.ts';
import { type AccessToken, type AccessTokens, createAccessTokens } from '../remote/access-token.ts';
import { createServiceClient, type ServiceQuestion, serviceUrlSchema, textAt } from '../remote/service-client.ts';
import { secretSchema, variableIn } from '../secret.ts';
import type { SignerTools } from '../signer.ts';

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
export const AZURE_VARIABLES = [
  'AZURE_IMDS_TOKEN_URL',
  'AZURE_FEDERATED_TOKEN_FILE',
  'IDENTITY_ENDPOINT',
  'IDENTITY_HEADER',
] as const;

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
    (body) => textAt(body, ['error_description'], ['error', 'message'], ['message'], ['error']),
    isManaged ? { ...tools, http: tools.identity } : tools,
  );

  async function tokenBy(question: Omit<ServiceQuestion<never>, 'answer'>): Promise<AccessToken> {
    const { access_token, expires_in, expires_on } = await client.ask({ ...question, answer: tokenSchema });
    const left = expires_on === undefined ? UNKNOWN_SECONDS : expires_on - tools.clock.now() / 1_000;
    return { text: access_token, lifeMs: (expires_in ?? left) * 1_000 };
  }

  const told = (value: AzureAccessConfig['client_id']) =>
    value === null || value === undefined ? undefined : tools.secrets(value);
  const clientId = told(config.client_id);
  if (isManaged) {
    const { url, headers } = machineEndpoint(tools.secrets);
    url.searchParams.set('resource', resource);
    if (clientId !== undefined) url.searchParams.set('client_id', clientId);
    return createAccessTokens(() => tokenBy({ url, headers }), tools.clock);
  }

  const tenant = told(config.tenant_id) ?? '';
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
  const [imds, , endpoint, header] = AZURE_VARIABLES.map((name) => variableIn(secrets, name));
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
  const path = named ?? variableIn(secrets, 'AZURE_FEDERATED_TOKEN_FILE');
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
    throw new Error(`the federated token file cannot be read (${codeOf(error)})`);
  }
}
