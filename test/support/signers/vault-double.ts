import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../../../src/domain/json/json.ts';
import type { Curve } from '../../../src/signers/signer.ts';
import { type Answered, type Asked, ServiceDouble } from './service-double.ts';
import { newServiceKey, type ServiceKey } from './service-key.ts';
import type { SignerDouble } from './signer-double.ts';

const NAMESPACE = 'team-a';

/**
 * A Vault over HTTP, as its API documentation describes it: AppRole, tokens with leases, KV version 2, transit.
 * https://developer.hashicorp.com/vault/api-docs
 */
export class VaultDouble {
  readonly service = new ServiceDouble((asked) => this.#answer(asked));
  readonly roleId = `canary-role-${randomBytes(12).toString('hex')}`;
  readonly secretId = `canary-secret-${randomBytes(12).toString('hex')}`;
  /** Valid tokens, each with the number of its renewals. */
  readonly tokens = new Map<string, number>();
  /** All tokens that it has issued. */
  readonly issued: string[] = [];
  lease = { seconds: 3_600, renewable: true };
  isSealed = false;
  /** Paths of the API that its policy allows the role, without `/v1/`. */
  allowed: RegExp = /./;
  /** The data of each secret by its path below the mount `secret`; null for a deleted version. */
  readonly secrets = new Map<string, Record<string, unknown> | null>();
  /** Versions of the transit key `relayer/solana`, from 1. */
  readonly versions: ServiceKey[] = [];
  logins = 0;

  #answer({ method, url, headers, json }: Asked): Answered {
    const path = decodeURIComponent(url.pathname.replace(/^\/v1\//, ''));
    if (!url.pathname.startsWith('/v1/')) return errors(404, '');
    if (this.isSealed) return errors(503, 'Vault is sealed');
    if (headers['x-vault-namespace'] !== NAMESPACE)
      return errors(404, `no handler for route "${path}". route entry not found.`);
    if (path === 'auth/approle/login')
      return method === 'POST' ? this.#login(json) : errors(405, 'unsupported operation');
    const token = String(headers['x-vault-token'] ?? '');
    if (!this.tokens.has(token)) return errors(403, 'permission denied', 'invalid token');
    if (path === 'auth/token/renew-self' && method === 'POST') return this.#renewed(token);
    if (!this.allowed.test(path)) return errors(403, `1 error occurred:\n\t* permission denied\n\n`);
    return this.#engine(method, path, json);
  }

  #login(body: Asked['json']): Answered {
    this.logins += 1;
    const isKnown = body?.['role_id'] === this.roleId && body['secret_id'] === this.secretId;
    if (!isKnown) return errors(400, 'invalid role or secret ID');
    const token = `hvs.canary-${randomBytes(18).toString('base64url')}`;
    this.tokens.set(token, 0);
    this.issued.push(token);
    return this.#auth(token);
  }

  #renewed(token: string): Answered {
    if (!this.lease.renewable) return errors(400, 'lease is not renewable');
    this.tokens.set(token, (this.tokens.get(token) ?? 0) + 1);
    return this.#auth(token);
  }

  #auth(token: string): Answered {
    const { seconds, renewable } = this.lease;
    const auth = { client_token: token, accessor: 'a', policies: ['default'], lease_duration: seconds, renewable };
    return { status: 200, json: { request_id: 'r', lease_id: '', data: null, auth } };
  }

  #engine(method: string, path: string, body: Asked['json']): Answered {
    const secret = /^secret\/data\/(.+)$/.exec(path)?.[1];
    if (secret !== undefined && method === 'GET') return this.#secret(secret);
    const [, operation] = /^transit\/(keys|sign)\/relayer\/solana$/.exec(path) ?? [];
    if (operation === 'keys' && method === 'GET') return this.#key();
    if (operation === 'sign' && method === 'POST') return this.#signed(body);
    return errors(404, `no handler for route "${path}". route entry not found.`);
  }

  #secret(name: string): Answered {
    const data = this.secrets.get(name);
    if (data === undefined) return { status: 404, json: { errors: [] } };
    const metadata = { version: 1, destroyed: false, deletion_time: data === null ? '2026-01-01T00:00:00Z' : '' };
    return { status: data === null ? 404 : 200, json: { data: { data, metadata } } };
  }

  #key(): Answered {
    const keys = this.versions.map(({ publicKey }, index) => [
      String(index + 1),
      { public_key: publicKey.toString('base64'), name: 'ed25519', creation_time: '2026-01-01T00:00:00Z' },
    ]);
    const latest = { latest_version: keys.length, min_encryption_version: 0, min_decryption_version: 1 };
    return { status: 200, json: { data: { type: 'ed25519', keys: Object.fromEntries(keys), ...latest } } };
  }

  #signed(body: Asked['json']): Answered {
    const input = String(body?.['input'] ?? '');
    if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(input)) {
      return errors(400, 'unable to decode input as base64: illegal base64 data at input byte 0');
    }
    const asked = body?.['key_version'] ?? 0;
    if (typeof asked !== 'number') return errors(400, 'error converting input for field "key_version"');
    const version = asked === 0 ? this.versions.length : asked;
    const key = this.versions[version - 1];
    if (key === undefined) return errors(400, 'requested version for signing is greater than the latest key version');
    const signature = `vault:v${version}:${key.sign(Buffer.from(input, 'base64')).toString('base64')}`;
    return { status: 200, json: { data: { signature, key_version: version } } };
  }
}

function errors(status: number, ...messages: string[]): Answered {
  return { status, json: { errors: messages } };
}

function vaultConfig({ service, roleId, secretId }: VaultDouble, keyName: string): JsonObject {
  return {
    address: service.url,
    namespace: NAMESPACE,
    role_id: { type: 'plain', value: roleId },
    secret_id: { type: 'plain', value: secretId },
    key_name: keyName,
  };
}

/** The answer of a server that gets too many requests. */
const BUSY: Answered = errors(429, 'request path "transit/sign": rate limit quota exceeded');

/** A `vault` signer's key: a secret in the KV engine. */
export async function startStoredKey(curve: Curve): Promise<SignerDouble & { vault: VaultDouble }> {
  const vault = new VaultDouble();
  await vault.service.start();
  const key = newServiceKey(curve);
  const put = ({ secret }: ServiceKey) => vault.secrets.set('relayers/one', { value: secret.toString('hex') });
  put(key);
  return {
    type: 'vault',
    curve,
    vault,
    service: vault.service,
    key,
    publicKey: key.publicKey,
    config: vaultConfig(vault, 'relayers/one'),
    givesKeyAway: true,
    busy: BUSY,
    secrets: () => [vault.roleId, vault.secretId, ...vault.issued, key.secret.toString('hex')],
    mixUp: () => void put(newServiceKey(curve)),
    revoke: () => {
      vault.allowed = /^$/;
      vault.tokens.clear();
    },
    restore: () => {
      vault.allowed = /./;
    },
  };
}

/** A `vault_transit` signer's key. */
export async function startTransitKey(): Promise<SignerDouble & { vault: VaultDouble }> {
  const vault = new VaultDouble();
  await vault.service.start();
  const key = newServiceKey('ed25519');
  vault.versions.push(key);
  return {
    type: 'vault_transit',
    curve: 'ed25519',
    vault,
    service: vault.service,
    key,
    publicKey: key.publicKey,
    busy: BUSY,
    config: { ...vaultConfig(vault, 'relayer/solana'), pubkey: key.publicKey.toString('base64') },
    secrets: () => [vault.roleId, vault.secretId, ...vault.issued],
    mixUp: () => void vault.versions.splice(0, 1, newServiceKey('ed25519')),
    revoke: () => {
      vault.allowed = /^$/;
    },
    restore: () => {
      vault.allowed = /./;
    },
  };
}
