/** The official clients work with the doubles of key services, and the project's signers send the same requests. */
import { createHash, createHmac, createPublicKey, type Hash, type Hmac, randomBytes, verify } from 'node:crypto';
import { CryptographyClient, KeyClient, type KeyClientOptions } from '@azure/keyvault-keys';
import {
  ConfidentialClientApplication,
  type Configuration,
  type INetworkModule,
  ManagedIdentityApplication,
  type NetworkRequestOptions,
} from '@azure/msal-node';
import { SignatureV4 } from '@smithy/signature-v4';
import { Compute, JWT } from 'google-auth-library';
import { decodeJwt, decodeProtectedHeader, importSPKI, jwtVerify } from 'jose';
import vault from 'node-vault';
import t from 'tap';
import { verify as verifyEcdsa } from 'tiny-secp256k1';
import type { JsonObject } from '../../src/domain/json/json.ts';
import { startAwsKms } from '../support/signers/aws-kms-double.ts';
import { CLIENT, startAzure, TENANT } from '../support/signers/azure-double.ts';
import { startGoogleKms } from '../support/signers/google-kms-double.ts';
import type { Asked } from '../support/signers/service-double.ts';
import { serviceSigner } from '../support/signers/service-signer.ts';
import { startStoredKey, startTransitKey } from '../support/signers/vault-double.ts';

type PipelinePolicy = NonNullable<KeyClientOptions['additionalPolicies']>[number]['policy'];

const digest = randomBytes(32);

t.test('AWS: the double takes what the official signer signed, and nothing that was changed since', async (t) => {
  const { service, credentials, key } = await startAwsKms('secp256k1');
  t.teardown(() => service.stop());
  const { host, port, hostname } = new URL(service.url);
  const signer = new SignatureV4({ credentials, region: 'eu-central-1', service: 'kms', sha256: Sha256 });
  const question = {
    method: 'POST',
    protocol: 'http:',
    hostname,
    port: Number(port),
    path: '/',
    query: {},
    headers: { host, 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'TrentService.GetPublicKey' },
    body: JSON.stringify({ KeyId: 'alias/relayer' }),
  };
  const signed = (at = Date.now()) => signer.sign(question, { signingDate: new Date(at) });
  async function answer({ headers, body }: { headers: Record<string, string>; body?: unknown }, path = '/') {
    const response = await fetch(`${service.url}${path}`, { method: 'POST', headers, body: String(body) });
    return { status: response.status, said: (await response.json()) as Record<string, string> };
  }
  const { status, said } = await answer(await signed());
  t.equal(status, 200);
  t.equal(said['PublicKey'], key.spki.export({ format: 'der', type: 'spki' }).toString('base64'));

  const good = await signed();
  const changed = (headers: Record<string, string>) => ({ ...good, headers: { ...good.headers, ...headers } });
  const { __type: type } = (await answer(good)).said;
  t.equal(type, undefined);
  for (const [name, refused] of Object.entries({
    body: await answer({ ...good, body: JSON.stringify({ KeyId: 'alias/relayers' }) }),
    target: await answer(changed({ 'x-amz-target': 'TrentService.Sign' })),
    date: await answer(changed({ 'x-amz-date': (await signed(Date.now() - 2_000)).headers['x-amz-date'] ?? '' })),
    token: await answer(changed({ 'x-amz-security-token': 'another' })),
    query: await answer(good, '/?a=1'),
    age: await answer(await signed(Date.now() - 301_000)),
  })) {
    t.equal(refused.status, 400, name);
    t.match(refused.said['__type'], /^(InvalidSignature|UnrecognizedClient)Exception$/, name);
  }
});

t.test('Google: assertions and questions are those of the official library', async (t) => {
  for (const curve of ['secp256k1', 'ed25519'] as const) {
    const double = await startGoogleKms(curve);
    t.teardown(() => double.service.stop());
    const account = double.config['service_account'] as Record<string, JsonObject>;
    const told = (name: string) => String(account[name]?.['value']).replaceAll('\\n', '\n');
    const email = told('client_email');
    const given = { email, key: told('private_key'), keyId: told('private_key_id') };
    const official = new JWT(given);
    official.defaultServicePath = 'cloudkms.googleapis.com';
    const version = `${double.service.url}/v1/projects/project-1/locations/europe-west3/keyRings/ring-1/cryptoKeys/key-1/cryptoKeyVersions/2`;
    const { data: shown } = await official.request<{ pem: string }>({ url: `${version}/publicKey` });
    t.equal(shown.pem, double.key.spki.export({ format: 'pem', type: 'spki' }));
    // The request that @google-cloud/kms 6.3.0 sends over REST.
    const text = digest.toString('base64');
    const data = curve === 'ed25519' ? { data: text } : { digest: { sha256: text } };
    await official.request({ url: `${version}:asymmetricSign`, method: 'POST', data });
    const theirs = double.service.asked.splice(0);

    await (await serviceSigner(t, double)).sign(curve, digest);
    const ours = double.service.asked.splice(0);
    t.strictSame(ours.map(questionOf), theirs.map(questionOf));
    t.strictSame(ours.map(assertionOf), theirs.map(assertionOf));
    const spki = String(createPublicKey(given.key).export({ format: 'pem', type: 'spki' }));
    const { payload } = await jwtVerify(bearerOf(ours[0]), await importSPKI(spki, 'RS256'), { issuer: email });
    t.equal(Number(payload.exp) - Number(payload.iat), 3_600);

    // The assertions of that client contain scopes instead of the service. The double accepts either one, but not both.
    const scopes = ['https://www.googleapis.com/auth/cloud-platform', 'https://www.googleapis.com/auth/cloudkms'];
    const scoped = new JWT({ ...given, scopes });
    scoped.useJWTAccessWithScope = true;
    t.equal((await scoped.request({ url: `${version}/publicKey` })).status, 200);
    for (const bad of [
      new JWT({ ...given, additionalClaims: { scope: scopes.join(' ') } }),
      Object.assign(new JWT({ ...given, scopes: ['email'] }), { useJWTAccessWithScope: true }),
      new JWT({ ...given, keyId: 'another' }),
    ]) {
      bad.defaultServicePath = official.defaultServicePath;
      const asked = bad.request({ url: `${version}/publicKey`, validateStatus: () => true });
      t.equal((await asked).status, 401);
    }
  }
});

t.test(
  'Azure: the official clients pass the challenge, get a token and sign; the questions are the same',
  async (t) => {
    const { azure, service, key, ...double } = await startAzure();
    t.teardown(() => service.stop());
    // The clients use HTTPS and Azure's own host names. The detour sends their requests to the double.
    const toDouble = (url: string) => `${service.url}${url.replace(/^https:\/\/[^/]+/, '')}`;
    const application = new ConfidentialClientApplication(azureApplication(azure.clientSecret, toDouble));
    const wanted: unknown[] = [];
    const credential = {
      async getToken(scopes: string | string[], { tenantId }: { tenantId?: string } = {}) {
        wanted.push([scopes, tenantId]);
        const token = await application.acquireTokenByClientCredential({ scopes: [scopes].flat() });
        return { token: token?.accessToken ?? '', expiresOnTimestamp: Number(token?.expiresOn) };
      },
    };
    const detour: PipelinePolicy = {
      name: 'detour',
      async sendRequest(request, next) {
        const { url } = request;
        Object.assign(request, { url: toDouble(url), allowInsecureConnection: true });
        const answer = await next(request);
        request.url = url;
        return answer;
      },
    };
    const options: KeyClientOptions = {
      serviceVersion: '7.4',
      additionalPolicies: [{ policy: detour, position: 'perRetry' }],
    };
    const client = new KeyClient('https://my-vault.vault.azure.net', credential, options);
    const { id = '', key: shown } = await client.getKey('relayer');
    t.match(shown, { kty: 'EC', crv: 'P-256K' });
    t.equal(Buffer.from(shown?.y ?? []).toString('hex'), key.publicKey.toString('hex', 33));
    const { result } = await new CryptographyClient(id, credential, options).sign('ES256K', digest);
    t.ok(verifyEcdsa(digest, key.publicKey, result));
    // The clients read the scope and the tenant from the challenge.
    t.strictSame(wanted[0], [['https://vault.azure.net/.default'], TENANT]);

    const theirs = service.asked.splice(0).filter(isLetIn);
    await (await serviceSigner(t, double)).sign('secp256k1', digest);
    const [ourGrant, ourKey, ourSign] = service.asked;
    const ofGrant = (asked: Asked | undefined) => {
      const fields = [...new URLSearchParams(String(asked?.bytes))];
      return Object.fromEntries(fields.filter(([name]) => !/^(x-|client-request-id)/.test(name)));
    };
    t.strictSame(ofGrant(ourGrant), ofGrant(theirs.find(({ method }) => method === 'POST')));
    t.strictSame([ourKey, ourSign].map(questionOf), [theirs[1], theirs.at(-1)].map(questionOf));
  },
);

t.test('Azure: App Service is asked as the official client asks it', async (t) => {
  const { azure, service, ...double } = await startAzure();
  t.teardown(() => service.stop());
  const environment = { IDENTITY_ENDPOINT: `${service.url}/msi/token`, IDENTITY_HEADER: azure.identityHeader };
  const before = { ...process.env };
  Object.assign(process.env, environment);
  t.teardown(() => {
    process.env = before;
  });
  const id = { userAssignedClientId: CLIENT };
  const official = new ManagedIdentityApplication({ managedIdentityIdParams: id });
  t.equal(official.getManagedIdentitySource(), 'AppService');
  const { accessToken } = await official.acquireToken({ resource: 'https://vault.azure.net' });
  t.equal(accessToken, azure.issued[0]);
  const [theirs] = service.asked.splice(0);

  const { tenant_id: _, client_secret: __, ...config } = double.config;
  const managed = { ...config, auth_type: 'managed_identity' };
  await (await serviceSigner(t, { ...double, config: managed, environment })).sign('secp256k1', digest);
  const [ours] = service.asked;
  const asked = (one: Asked | undefined) => [
    ...[one?.method, one?.url.pathname, Object.fromEntries(one?.url.searchParams ?? [])],
    one?.headers['x-identity-header'],
  ];
  t.strictSame(asked(ours), asked(theirs));
});

t.test('Google: the metadata service is asked as the official client asks it', async (t) => {
  const { service, ...double } = await startGoogleKms('ed25519');
  t.teardown(() => service.stop());
  const before = { ...process.env };
  process.env['GCE_METADATA_HOST'] = new URL(service.url).host;
  t.teardown(() => {
    process.env = before;
  });
  t.ok((await new Compute().getAccessToken()).token);
  const [theirs] = service.asked.splice(0);

  const { service_account: account, key, endpoint } = double.config;
  const { project_id } = account as { project_id: string };
  const config = {
    auth_type: 'workload_identity',
    key: { ...(key as JsonObject), project_id },
    endpoint: endpoint ?? '',
  };
  const environment = { GCE_METADATA_HOST: new URL(service.url).host };
  const signature = await (await serviceSigner(t, { ...double, config, environment })).sign('ed25519', digest);
  t.ok(verify(null, digest, double.key.spki, signature));
  const asked = (one: Asked | undefined) => [one?.method, one?.url.href, one?.headers['metadata-flavor']];
  t.strictSame(asked(service.asked[0]), asked(theirs));
});

t.test('Vault: a client that others keep logs in, reads and signs; the questions are the same', async (t) => {
  const stored = await startStoredKey('secp256k1');
  const transit = await startTransitKey();
  t.teardown(() => Promise.all([stored.service.stop(), transit.service.stop()]));
  for (const double of [stored, transit]) {
    const { roleId, secretId } = double.vault;
    const client = vault({ endpoint: double.service.url, namespace: 'team-a' });
    client.token = (await client.approleLogin({ role_id: roleId, secret_id: secretId })).auth.client_token;
    if (double === stored) {
      const { data } = await client.read('secret/data/relayers/one');
      t.equal(data.data.value, stored.key.secret.toString('hex'));
    } else {
      const { data: shown } = await client.read('transit/keys/relayer/solana');
      t.equal(shown.keys['1'].public_key, transit.publicKey.toString('base64'));
      const input = digest.toString('base64');
      const { data } = await client.write('transit/sign/relayer/solana', { input, key_version: 1 });
      const [, signature = ''] = /^vault:v1:(.+)$/.exec(data.signature) ?? [];
      t.ok(verify(null, digest, transit.key.spki, Buffer.from(signature, 'base64')));
    }
    await client.tokenRenewSelf();
    const theirs = double.service.asked.splice(0).slice(0, -1);
    await (await serviceSigner(t, double)).sign(double.curve, digest);
    t.strictSame(double.service.asked.map(questionOf), theirs.map(questionOf));
  }
});

/** The parts of a request that are compared. */
function questionOf(asked: Asked | undefined) {
  const { method, url, headers, json } = asked ?? {};
  const type = json === undefined ? undefined : headers?.['content-type'];
  return { method, path: url?.pathname.replace(/\/$/, ''), version: url?.searchParams.get('api-version'), json, type };
}

function bearerOf(asked: Asked | undefined): string {
  return asked?.headers.authorization?.replace('Bearer ', '') ?? '';
}

/** An assertion without its times. */
function assertionOf(asked: Asked | undefined) {
  const { iat: _, exp: __, ...claims } = decodeJwt(bearerOf(asked));
  return { header: decodeProtectedHeader(bearerOf(asked)), claims };
}

/** Whether the request is the token request, or has a token. */
function isLetIn({ method, headers }: Asked): boolean {
  return method === 'POST' || headers.authorization !== undefined;
}

/** The directory's metadata, set in advance, so that the client only requests the token. */
function azureApplication(clientSecret: string, place: (url: string) => string): Configuration {
  const authority = `https://login.microsoftonline.com/${TENANT}`;
  const networkClient: INetworkModule = {
    sendGetRequestAsync: () => Promise.reject(new Error('only tokens are asked for')),
    async sendPostRequestAsync<T>(url: string, { headers = {}, body = '' }: NetworkRequestOptions = {}) {
      const response = await fetch(place(url), { method: 'POST', headers, body });
      const said = Object.fromEntries(response.headers);
      return { status: response.status, headers: said, body: (await response.json()) as T };
    },
  };
  return {
    auth: {
      clientId: CLIENT,
      clientSecret,
      authority,
      cloudDiscoveryMetadata: JSON.stringify({ tenant_discovery_endpoint: authority, metadata: [] }),
      authorityMetadata: JSON.stringify({
        issuer: `${authority}/v2.0`,
        authorization_endpoint: `${authority}/oauth2/v2.0/authorize`,
        token_endpoint: `${authority}/oauth2/v2.0/token`,
        jwks_uri: `${authority}/discovery/v2.0/keys`,
      }),
    },
    system: { networkClient },
  };
}

/** The hash class that AWS's signer needs. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as Buffer);
  }

  update(bytes: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytes as Buffer);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}
