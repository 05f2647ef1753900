import { z } from 'zod';
import { type AccessToken, createAccessTokens } from '../remote/access-token.ts';
import { createServiceClient, serviceUrlSchema, textAt } from '../remote/service-client.ts';
import { secretSchema } from '../secret.ts';
import type { SignerTools } from '../signer.ts';

/** A path of an engine or a key. A step of `.` or `..` would lead out of it. */
const pathSchema = z
  .string()
  .regex(/^\/*[^/]+(\/[^/]+)*\/*$/, 'not a path')
  .refine((path) => !/(^|\/)\.\.?(\/|$)/.test(path), 'a path without . and ..');

/** The configuration of every signer in a Vault: HashiCorp's, or OpenBao. */
export const vaultFields = {
  address: serviceUrlSchema.describe('URL of the server, for instance https://vault.example.org:8200'),
  namespace: z.string().min(1).nullish().describe('Namespace, on an enterprise server'),
  role_id: secretSchema.describe('Role id of the AppRole'),
  secret_id: secretSchema.describe('Secret id of the AppRole'),
  key_name: pathSchema.describe('Path of the key below the mount point'),
  mount_point: pathSchema
    .nullish()
    .describe('Mount point of the engine. Default: secret for vault, transit for vault_transit'),
};

export type VaultConfig = z.output<z.ZodObject<typeof vaultFields>>;

/** Sends requests to a Vault as an AppRole. */
export interface VaultSession {
  /** @param path below `/v1/`. With a body it is a POST */
  ask<Answer>(path: string, answer: z.ZodType<Answer>, body?: object): Promise<Answer>;
}

const authSchema = z.object({
  auth: z.object({ client_token: z.string().min(1), lease_duration: z.number().min(0), renewable: z.boolean() }),
});

/**
 * The statuses with which a token is refused. Vault answers 403 for an unknown, revoked or expired token. It also
 * answers 403 for a request that the token does not allow.
 */
const LOST = [401, 403];

/**
 * The statuses of a standby: 412 while it has not heard of a new token or key, 307 while it cannot forward a request.
 * Both pass within moments, unless the address is that of a standby for good.
 * https://developer.hashicorp.com/vault/docs/enterprise/consistency
 */
const BEHIND = [412, 307];

/** Logs in at the first request, renews the token, and logs in again when it cannot be renewed. */
export function createVaultSession({ address, ...config }: VaultConfig, tools: SignerTools): VaultSession {
  const roleId = tools.secrets(config.role_id);
  const secretId = tools.secrets(config.secret_id);
  const client = createServiceClient('Vault', (body) => textAt(body, ['errors', 0]), tools, BEHIND);
  const base = address.replace(/\/+$/, '');
  const common: Record<string, string> =
    config.namespace === null || config.namespace === undefined ? {} : { 'x-vault-namespace': config.namespace };

  function post<Answer>(path: string, answer: z.ZodType<Answer>, body: object, token: string): Promise<Answer> {
    const headers = { ...common, 'content-type': 'application/json', ...tokenHeader(token) };
    return client.ask({ url: new URL(`${base}/v1/${path}`), headers, body: JSON.stringify(body), answer });
  }

  async function logIn(): Promise<AccessToken> {
    const { auth } = await client.ask({
      url: new URL(`${base}/v1/auth/approle/login`),
      headers: { ...common, 'content-type': 'application/json' },
      body: JSON.stringify({ role_id: roleId, secret_id: secretId }),
      credentials: [roleId, secretId],
      answer: authSchema,
    });
    return tokenOf(auth);
  }

  function tokenOf({ client_token: text, lease_duration: seconds, renewable }: Auth): AccessToken {
    const lifeMs = seconds === 0 ? Infinity : seconds * 1_000;
    if (!renewable) return { text, lifeMs };
    return {
      text,
      lifeMs,
      renew: async () => tokenOf((await post('auth/token/renew-self', authSchema, {}, text)).auth),
    };
  }

  const tokens = createAccessTokens(logIn, tools.clock);
  return {
    ask: (path, answer, body) =>
      tokens.use((token) => {
        if (body !== undefined) return post(path, answer, body, token);
        return client.ask({
          url: new URL(`${base}/v1/${path}`),
          headers: { ...common, ...tokenHeader(token) },
          answer,
        });
      }, LOST),
  };
}

type Auth = z.output<typeof authSchema>['auth'];

function tokenHeader(token: string): Record<string, string> {
  return { 'x-vault-token': token };
}

/** A path below a mount, encoded for a URL. Its slashes stay. */
export function vaultPath(path: string): string {
  return path
    .replace(/^\/+|\/+$/g, '')
    .split('/')
    .map(encodeURIComponent)
    .join('/');
}
