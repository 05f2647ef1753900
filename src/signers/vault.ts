import { z } from 'zod';
import { type AccessToken, createAccessTokens } from './remote/access-token.ts';
import { createRemoteSigner } from './remote/remote-signer.ts';
import {
  createServiceClient,
  REMOTE_LIMIT_MS,
  readTextAtPath,
  ServiceRefusal,
  serviceUrlSchema,
} from './remote/service-client.ts';
import { type Signer, type SignerKind, type SignerTools, secretSchema } from './signer.ts';

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

type VaultConfig = z.output<z.ZodObject<typeof vaultFields>>;

/** Sends requests to a Vault as an AppRole. */
interface VaultSession {
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
  const client = createServiceClient('Vault', (body) => readTextAtPath(body, ['errors', 0]), tools, BEHIND);
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

/** For a deleted version, the inner `data` is null. */
const storedKeySchema = z.object({ data: z.object({ data: z.object({ value: z.unknown().optional() }).nullable() }) });

/** `vault`: a key in a KV v2 engine, read when it is first needed and used in this process from then on. */
export const vaultSignerKind: SignerKind<VaultConfig> = {
  type: 'vault',
  curves: ['secp256k1', 'ed25519'],
  configSchema: z.strictObject(vaultFields),
  limitMs: REMOTE_LIMIT_MS,
  async create(id, config, tools) {
    const session = createVaultSession(config, tools);
    const path = `${vaultPath(config.mount_point ?? 'secret')}/data/${vaultPath(config.key_name)}`;
    let opening: Promise<Signer> | undefined;

    function opened(): Promise<Signer> {
      if (opening === undefined) {
        opening = tools.keys.open(id, async () => ({ kind: 'key', bytes: await readKey(session, path) }));
        opening.catch(() => {
          opening = undefined;
        });
      }
      return opening;
    }

    return {
      id,
      publicKey: async (curve) => (await opened()).publicKey(curve),
      sign: async (curve, payload) => (await opened()).sign(curve, payload),
      async close() {
        await opening?.then((signer) => signer.close()).catch(() => undefined);
      },
    };
  },
};

async function readKey(session: VaultSession, path: string): Promise<Uint8Array> {
  const { data } = await session.ask(path, storedKeySchema).catch((error: unknown) => {
    throw error instanceof ServiceRefusal && error.status === 404 ? new Error(`Vault has no secret at ${path}`) : error;
  });
  const value = data.data?.value;
  if (typeof value !== 'string' || value.trim() === '') throw new Error(`the secret at ${path} has no text in "value"`);
  const digits = value.trim().replace(/^0[xX]/, '');
  if (!/^[0-9a-fA-F]*$/.test(digits)) throw new Error(`"value" at ${path} is not hexadecimal`);
  if (digits.length !== 64) throw new Error(`"value" at ${path} has ${digits.length} digits; a key has 64`);
  return Uint8Array.fromHex(digits);
}

const transitSchema = z.strictObject({
  ...vaultFields,
  pubkey: z
    .string()
    .regex(/^[A-Za-z0-9+/]{43}=$/, 'not 32 bytes in base64')
    .describe('Ed25519 public key of the key version that signs, in base64'),
});

const transitKeySchema = z.object({
  data: z.object({ type: z.string(), keys: z.record(z.string(), z.object({ public_key: z.string() })) }),
});

const transitSignatureSchema = z.object({
  data: z.object({ signature: z.string().regex(/^vault:v\d+:[A-Za-z0-9+/]+=*$/) }),
});

/**
 * `vault_transit`: a key that never leaves the transit engine. After a rotation the engine has several versions of a
 * key. The version with the configured public key signs, as long as the engine allows it.
 */
export const vaultTransitSignerKind: SignerKind<z.output<typeof transitSchema>> = {
  type: 'vault_transit',
  curves: ['ed25519'],
  configSchema: transitSchema,
  limitMs: REMOTE_LIMIT_MS,
  async create(id, config, tools) {
    const publicKey = Buffer.from(config.pubkey, 'base64');
    const session = createVaultSession(config, tools);
    const mount = vaultPath(config.mount_point ?? 'transit');
    const key = vaultPath(config.key_name);

    return createRemoteSigner(id, async () => {
      const version = await versionOf(session, `${mount}/keys/${key}`, config.pubkey);
      const wanted = version === undefined ? {} : { key_version: version };
      return {
        publicKey,
        async sign(message) {
          const body = { input: Buffer.from(message).toString('base64'), ...wanted };
          const { data } = await session.ask(`${mount}/sign/${key}`, transitSignatureSchema, body);
          return Buffer.from(data.signature.split(':')[2] ?? '', 'base64');
        },
      };
    });
  },
};

/**
 * The version with the configured public key. Undefined when the role may not read the key; then the newest version
 * signs.
 */
async function versionOf(session: VaultSession, path: string, pubkey: string): Promise<number | undefined> {
  const known = await session.ask(path, transitKeySchema).catch((error: unknown) => {
    if (error instanceof ServiceRefusal && error.status === 403) return undefined;
    throw error instanceof ServiceRefusal && error.status === 404 ? new Error(`Vault has no key at ${path}`) : error;
  });
  if (known === undefined) return undefined;
  const { type, keys } = known.data;
  if (type !== 'ed25519') throw new Error(`the key at ${path} is of type ${type}, not ed25519`);
  const [version] = Object.entries(keys).find(([, { public_key }]) => public_key === pubkey) ?? [];
  if (version === undefined) throw new Error(`no version of the key at ${path} has the configured pubkey`);
  return Number(version);
}
