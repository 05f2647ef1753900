import type { KMSClientConfig, SigningAlgorithmSpec } from '@aws-sdk/client-kms';
import { z } from 'zod';
import { messageOf } from '../domain/errors.ts';
import { withTimeout } from '../domain/with-timeout.ts';
import { createRemoteSigner } from './remote/remote-signer.ts';
import { REMOTE_LIMIT_MS, serviceUrlSchema } from './remote/service-client.ts';
import { publicKeyOfSpki, signatureOfDer } from './remote/signature.ts';
import { type Curve, readVariable, type Signer, type SignerKind, type SignerTools, secretSchema } from './signer.ts';

/**
 * A vendor's client that is replaced when it does not answer in time. The requests of such a client share their waits.
 * When its search for credentials hangs, the client and all later requests would hang forever.
 */
export class ReplaceableClient<Client> {
  readonly #make: () => Client;
  readonly #limitMs: number;
  #client: Client;

  constructor(make: () => Client, limitMs: number) {
    this.#make = make;
    this.#limitMs = limitMs;
    this.#client = make();
  }

  /** The client for new requests. Earlier clients finish the requests that they have under way. */
  get current(): Client {
    return this.#client;
  }

  /** @throws Error when there is no answer in time */
  async ask<Answer extends object>(question: (client: Client) => Promise<Answer>): Promise<Answer> {
    const client = this.#client;
    const answer = await withTimeout(this.#limitMs, question(client));
    if (answer !== undefined) return answer;
    if (client === this.#client) this.#client = this.#make();
    throw new Error(`no answer within ${this.#limitMs / 1000} s`);
  }
}

const configSchema = z
  .strictObject({
    // It becomes a part of the service's host name.
    region: z
      .string()
      .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'not a region of AWS, for instance eu-central-1')
      .describe('AWS region of the key, for instance eu-central-1'),
    key_id: z
      .string()
      .regex(/^[a-zA-Z0-9:/_-]{1,2048}$/, 'not the id or the ARN of a key or of an alias')
      .describe('Id or ARN of the key, or of an alias'),
    endpoint: serviceUrlSchema.optional().describe('URL of a private endpoint. Default: the public one of the region'),
    access_key_id: secretSchema
      .optional()
      .describe('Id of the access key. Default: what the server itself has, as every client of AWS finds it'),
    secret_access_key: secretSchema.optional().describe('Secret of the access key'),
    session_token: secretSchema.optional().describe('Session token, for temporary credentials'),
  })
  .check(({ value: input, issues }) => {
    const { access_key_id: id, secret_access_key: secret, session_token: session } = input;
    const missing = id === undefined ? 'access_key_id' : secret === undefined ? 'secret_access_key' : undefined;
    if (missing === undefined || [id, secret, session].every((one) => one === undefined)) return;
    issues.push({
      code: 'custom',
      path: [missing],
      message: 'needed beside the other parts of the credentials',
      input,
    });
  });

/** The parameters of `Sign`, by curve. */
const ALGORITHMS: Record<Curve, { MessageType: 'DIGEST' | 'RAW'; SigningAlgorithm: SigningAlgorithmSpec }> = {
  secp256k1: { MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' },
  ed25519: { MessageType: 'RAW', SigningAlgorithm: 'ED25519_SHA_512' },
};

const EXCHANGE_MS = 4_000;

const VARIABLES = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'] as const;

/**
 * `aws_kms`: a key of AWS Key Management Service. Uses AWS's own client, which is loaded with the first such signer.
 */
export const awsKmsSignerKind: SignerKind<z.output<typeof configSchema>> = {
  type: 'aws_kms',
  curves: ['secp256k1', 'ed25519'],
  configSchema,
  limitMs: REMOTE_LIMIT_MS,
  ofFilesOnly: ['endpoint'],
  variables: VARIABLES,
  serverIdentity: ({ access_key_id }) =>
    access_key_id === undefined
      ? 'without access_key_id and secret_access_key it signs with the credentials'
      : undefined,
  async create(id, config, { secrets }): Promise<Signer> {
    const kms = await import('@aws-sdk/client-kms');
    const clients = new ReplaceableClient(() => new kms.KMSClient(settings(config, secrets)), REMOTE_LIMIT_MS);
    const { region, key_id: KeyId } = config;

    const signer = createRemoteSigner(id, async (curve) => {
      const { PublicKey: spki } = await askKms(region, () =>
        clients.ask((client) => client.send(new kms.GetPublicKeyCommand({ KeyId }))),
      );
      return {
        publicKey: publicKeyOfSpki(curve, spki ?? ''),
        async sign(payload) {
          const command = new kms.SignCommand({ KeyId, Message: payload, ...ALGORITHMS[curve] });
          const { Signature: signature = new Uint8Array() } = await askKms(region, () =>
            clients.ask((client) => client.send(command)),
          );
          return curve === 'secp256k1' ? signatureOfDer(signature) : signature;
        },
      };
    });
    return {
      ...signer,
      async close() {
        await signer.close();
        clients.current.destroy();
      },
    };
  },
};

function settings(config: z.output<typeof configSchema>, secrets: SignerTools['secrets']): KMSClientConfig {
  const { region, endpoint } = config;
  return {
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(ownCredentials(config, secrets) ?? credentials(secrets)),
    // The client retries by itself, and only where the service says that it did nothing or was not reached.
    maxAttempts: 3,
    // The first two limits end with the head of an answer. The third one covers what comes after it, too.
    requestHandler: {
      connectionTimeout: 2_000,
      requestTimeout: EXCHANGE_MS,
      throwOnRequestTimeout: true,
      socketTimeout: EXCHANGE_MS,
    },
  };
}

/** The credentials that the configuration brings along. */
function ownCredentials(
  { access_key_id, secret_access_key, session_token }: z.output<typeof configSchema>,
  secrets: SignerTools['secrets'],
): Pick<KMSClientConfig, 'credentials'> | undefined {
  if (access_key_id === undefined || secret_access_key === undefined) return undefined;
  const sessionToken = session_token === undefined ? {} : { sessionToken: secrets(session_token) };
  const credentials = { accessKeyId: secrets(access_key_id), secretAccessKey: secrets(secret_access_key) };
  return { credentials: { ...credentials, ...sessionToken } };
}

/**
 * The client finds credentials as every AWS client does, from the environment of the process. Variables in `.env` are
 * not there, so it also gets those. The values that are read here are known as secrets.
 */
function credentials(secrets: SignerTools['secrets']): Pick<KMSClientConfig, 'credentials'> {
  const [accessKeyId, secretAccessKey, sessionToken] = VARIABLES.map((name) => readVariable(secrets, name));
  if (accessKeyId === undefined || secretAccessKey === undefined) return {};
  return { credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) } };
}

/** Passes on only what the service reason. The errors of the client carry requests and answers. */
async function askKms<Answer>(region: string, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    const { name, $metadata, code } = error as Failure;
    const status = $metadata?.httpStatusCode;
    // Only the first line is the service's. The client's advice for its users comes after it.
    const reason = messageOf(error).split('\n', 1)[0] || code || 'it gave no reason';
    const place = `AWS KMS in ${region}`;
    if (status === undefined) throw new Error(`${place}: ${reason}`);
    const redirect = status >= 300 && status < 400 ? ' (a redirect: redirects are not followed)' : '';
    throw new Error(`${place} answered ${status}${redirect}: ${name}: ${reason}`);
  }
}

interface Failure {
  name?: string;
  code?: string;
  $metadata?: { httpStatusCode?: number };
}
