import { randomBytes } from 'node:crypto';
import { type Answered, type Asked, ServiceDouble } from './service-double.ts';
import { newServiceKey, type ServiceKey } from './service-key.ts';
import type { SignerDouble } from './signer-double.ts';

export const TENANT = '0f5a5a2e-8d3b-4b55-9c8f-3e7d5a1b2c3d';
export const CLIENT = '7b1d9f0a-1111-4222-8333-444455556666';
const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const RESOURCE = 'https://vault.azure.net';
const API = '7.4';

/**
 * A vault with one key, the token endpoint of Entra ID and the token endpoint of a machine, all at one address.
 * https://learn.microsoft.com/en-us/rest/api/keyvault/keys/
 */
export class AzureDouble {
  readonly service = new ServiceDouble((asked) => this.#answer(asked));
  readonly clientSecret = `canary~${randomBytes(20).toString('base64url')}`;
  readonly federatedToken = `canary.federated.${randomBytes(20).toString('base64url')}`;
  /** The secret of the endpoint of App Service, Functions and Container Apps. */
  readonly identityHeader = `canary-${randomBytes(16).toString('hex')}`;
  now = Date.now;
  /** Valid tokens. */
  readonly tokens = new Set<string>();
  readonly issued: string[] = [];
  /** The lifetime of tokens as answered: a number from Entra ID, a text from a machine. */
  lifeSeconds: number | string | undefined = 3_599;
  /** Versions of the key, by name, the newest last. */
  readonly versions = new Map<string, ServiceKey>();
  refusal: Answered | undefined;
  /** The curve that answers give for the key. */
  curveName = 'P-256K';
  /** The key version that answers name, if it is not the requested one. */
  saysVersion: string | undefined;

  #answer(asked: Asked): Answered {
    const { pathname } = asked.url;
    if (pathname === '/metadata/identity/oauth2/token') return this.#tokenOfMachine(asked);
    if (pathname === '/msi/token') return this.#tokenOfAppService(asked);
    if (pathname.endsWith('/oauth2/v2.0/token')) return this.#tokenOfApplication(asked);
    const token = /^Bearer (\S+)$/.exec(asked.headers.authorization ?? '')?.[1] ?? '';
    if (!this.tokens.has(token)) {
      const challenge = `Bearer authorization="${this.service.url}/${TENANT}", resource="${RESOURCE}"`;
      const refused = said(401, 'Unauthorized', 'AKV10000: Request is missing a Bearer or PoP token.');
      return { ...refused, headers: { 'www-authenticate': challenge } };
    }
    if (asked.url.searchParams.get('api-version') !== API) return said(400, 'BadParameter', 'api-version');
    return this.refusal ?? this.#key(asked);
  }

  #tokenOfMachine({ method, url, headers }: Asked): Answered {
    const { searchParams: query } = url;
    const isWhole = query.get('api-version') === '2018-02-01' && query.get('resource') === RESOURCE;
    if (method !== 'GET' || headers['metadata'] !== 'true' || !isWhole) {
      return {
        status: 400,
        json: { error: 'invalid_request', error_description: 'Required metadata header not specified' },
      };
    }
    const clientId = query.get('client_id');
    if (clientId !== null && clientId !== CLIENT) {
      return { status: 400, json: { error: 'invalid_request', error_description: 'Identity not found' } };
    }
    return this.#issued();
  }

  /** https://learn.microsoft.com/azure/app-service/overview-managed-identity#rest-endpoint-reference */
  #tokenOfAppService({ method, url, headers }: Asked): Answered {
    const { searchParams: query } = url;
    if (headers['x-identity-header'] !== this.identityHeader) {
      return { status: 401, json: { statusCode: 401, message: 'X-IDENTITY-HEADER does not match.' } };
    }
    if (method !== 'GET' || query.get('api-version') !== '2019-08-01' || query.get('resource') !== RESOURCE) {
      return { status: 400, json: { statusCode: 400, message: 'Unsupported api-version or resource.' } };
    }
    const clientId = query.get('client_id');
    if (clientId !== null && clientId !== CLIENT) {
      return {
        status: 400,
        json: { statusCode: 400, message: 'No User Assigned or Delegated Managed Identity found.' },
      };
    }
    const { json } = this.#issued();
    const { access_token } = json as { access_token: string };
    const expires_on = String(Math.floor(this.now() / 1_000) + 86_400);
    return {
      status: 200,
      json: { access_token, expires_on, resource: RESOURCE, token_type: 'Bearer', client_id: CLIENT },
    };
  }

  #tokenOfApplication({ method, url, headers, bytes }: Asked): Answered {
    const form = Object.fromEntries(new URLSearchParams(bytes.toString('utf8')));
    const isForm = method === 'POST' && /^application\/x-www-form-urlencoded(;|$)/.test(headers['content-type'] ?? '');
    const { grant_type, scope, client_id, client_secret, client_assertion, client_assertion_type, ...more } = form;
    // Clients may add only fields that describe themselves.
    const isNothingElse = Object.keys(more).every((name) => /^(x-client-|x-ms-lib-|client-request-id$)/.test(name));
    const isWhole = grant_type === 'client_credentials' && scope === `${RESOURCE}/.default` && isNothingElse;
    if (!isForm || !isWhole || url.pathname !== `/${TENANT}/oauth2/v2.0/token`) {
      return {
        status: 400,
        json: { error: 'invalid_request', error_description: 'AADSTS900144: The request is malformed.' },
      };
    }
    const isProven =
      client_secret === this.clientSecret ||
      (client_assertion_type === ASSERTION && client_assertion === this.federatedToken && client_secret === undefined);
    if (client_id !== CLIENT || !isProven) {
      const description = 'AADSTS7000215: Invalid client secret provided.';
      return { status: 401, json: { error: 'invalid_client', error_description: description } };
    }
    return this.#issued();
  }

  #issued(): Answered {
    const token = `canary.${randomBytes(24).toString('base64url')}`;
    this.tokens.add(token);
    this.issued.push(token);
    const life = this.lifeSeconds === undefined ? {} : { expires_in: this.lifeSeconds };
    return { status: 200, json: { token_type: 'Bearer', ...life, access_token: token } };
  }

  #key({ method, url, headers, json }: Asked): Answered {
    const [, name, asked, action] = /^\/keys\/([^/]+)(?:\/([0-9a-f]{32}))?(\/sign|\/)?$/.exec(url.pathname) ?? [];
    const version = asked ?? [...this.versions.keys()].at(-1) ?? '';
    const key = this.versions.get(version);
    if (name !== 'relayer' || key === undefined) {
      return said(404, 'KeyNotFound', `A key with (name/id) ${name}/${version} was not found in this key vault.`);
    }
    const kid = `https://my-vault.vault.azure.net/keys/relayer/${this.saysVersion ?? version}`;
    if (action !== '/sign' && method === 'GET') {
      const { x, y } = key.spki.export({ format: 'jwk' });
      const operations = { key_ops: ['sign', 'verify'] };
      return {
        status: 200,
        json: { key: { kid, kty: 'EC', ...operations, crv: this.curveName, x, y }, attributes: { enabled: true } },
      };
    }
    const text = json?.['value'];
    const digest = typeof text === 'string' && /^[\w-]{43}$/.test(text) ? Buffer.from(text, 'base64url') : undefined;
    const isSign = method === 'POST' && headers['content-type'] === 'application/json' && action === '/sign';
    if (!isSign || json?.['alg'] !== 'ES256K' || digest === undefined) {
      return said(400, 'BadParameter', 'Property value has invalid value');
    }
    return { status: 200, json: { kid, value: key.sign(digest).toString('base64url') } };
  }
}

/** An `azure_key_vault` signer's key, by a client's secret. */
export async function startAzure(): Promise<SignerDouble & { azure: AzureDouble; addVersion(): void }> {
  const azure = new AzureDouble();
  await azure.service.start();
  const key = newServiceKey('secp256k1');
  const addVersion = (version = newServiceKey('secp256k1')) => {
    azure.versions.set(randomBytes(16).toString('hex'), version);
  };
  addVersion(key);
  const [first = ''] = azure.versions.keys();
  return {
    ...{
      type: 'azure_key_vault',
      curve: 'secp256k1',
      azure,
      service: azure.service,
      key,
      publicKey: key.publicKey,
      addVersion,
    },
    config: {
      auth_type: 'client_secret',
      tenant_id: { type: 'plain', value: TENANT },
      client_id: { type: 'plain', value: CLIENT },
      client_secret: { type: 'plain', value: azure.clientSecret },
      vault_url: azure.service.url,
      key_name: 'relayer',
      authority_host: azure.service.url,
    },
    busy: {
      ...said(429, 'Throttled', 'Request was not processed because too many requests were received.'),
      headers: { 'retry-after': '0' },
    },
    secrets: () => [azure.identityHeader, azure.clientSecret, azure.federatedToken, ...azure.issued],
    mixUp: () => void azure.versions.set(first, newServiceKey('secp256k1')),
    revoke: () => {
      azure.refusal = said(403, 'Forbidden', 'Caller is not authorized to perform action on resource.');
    },
    restore: () => {
      azure.refusal = undefined;
    },
  };
}

function said(status: number, code: string, message: string): Answered {
  return { status, json: { error: { code, message } } };
}
