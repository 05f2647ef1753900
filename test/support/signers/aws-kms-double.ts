import { randomBytes } from 'node:crypto';
import type { Curve } from '../../../src/signers/signer.ts';
import { type Answered, type Asked, ServiceDouble } from './service-double.ts';
import { derOf, newServiceKey } from './service-key.ts';
import type { SignerDouble } from './signer-double.ts';
import { type AwsCredentials, checkSignature, SignatureFault } from './sigv4.ts';

const REGION = 'eu-central-1';
const ARN = `arn:aws:kms:${REGION}:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab`;
const SPECS = { secp256k1: 'ECC_SECG_P256K1', ed25519: 'ECC_NIST_EDWARDS25519' };
const ALGORITHMS: Record<Curve, readonly string[]> = {
  secp256k1: ['ECDSA_SHA_256'],
  ed25519: ['ED25519_SHA_512', 'ED25519_PH_SHA_512'],
};

/**
 * Starts AWS KMS with one key, in the protocol AWS JSON 1.1. https://docs.aws.amazon.com/kms/latest/APIReference/
 * @param credentials those of a process: its signers have the same
 */
export async function startAwsKms(
  curve: Curve,
  credentials = newCredentials(),
): Promise<SignerDouble & { faults: KmsFaults; credentials: typeof credentials }> {
  const faults: KmsFaults = { refusal: undefined, curve };
  const original = newServiceKey(curve);
  let key = original;

  function answer(asked: Asked): Answered {
    try {
      const action = actionOf(asked, credentials);
      if (faults.refusal !== undefined) throw new SignatureFault(...faults.refusal);
      if (!['alias/relayer', ARN].includes(String(asked.json?.['KeyId']))) {
        throw new SignatureFault('NotFoundException', `Key '${String(asked.json?.['KeyId'])}' does not exist`);
      }
      const common = { KeyId: ARN, KeySpec: SPECS[faults.curve], KeyUsage: 'SIGN_VERIFY' };
      if (action === 'GetPublicKey') {
        const spki = key.spki.export({ format: 'der', type: 'spki' }).toString('base64');
        return said(200, { ...common, PublicKey: spki, SigningAlgorithms: ALGORITHMS[curve] });
      }
      const { message, algorithm } = signRequest(asked.json ?? {}, curve);
      const signature = curve === 'secp256k1' ? derOf(key.sign(message)) : key.sign(message);
      return said(200, { KeyId: ARN, Signature: signature.toString('base64'), SigningAlgorithm: algorithm });
    } catch (error) {
      if (!(error instanceof SignatureFault)) throw error;
      return said(400, { __type: error.name, message: error.message });
    }
  }

  const service = await new ServiceDouble(answer).start();
  return {
    type: 'aws_kms',
    curve,
    service,
    key: original,
    publicKey: original.publicKey,
    faults,
    credentials,
    config: { region: REGION, key_id: 'alias/relayer', endpoint: service.url },
    environment: {
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_SESSION_TOKEN: credentials.sessionToken,
    },
    busy: said(400, { __type: 'ThrottlingException', message: 'You have exceeded the rate' }),
    secrets: () => Object.values(credentials),
    mixUp: () => {
      key = newServiceKey(curve);
    },
    revoke: () => {
      faults.refusal = ['AccessDeniedException', 'User: arn:aws:iam::111122223333:user/relayer is not authorized'];
    },
    restore: () => {
      faults.refusal = undefined;
    },
  };
}

function newCredentials() {
  return {
    accessKeyId: `AKIA${randomBytes(8).toString('hex').toUpperCase()}`,
    secretAccessKey: `canary/${randomBytes(24).toString('base64')}`,
    sessionToken: `canary-session-${randomBytes(24).toString('base64')}`,
  };
}

export interface KmsFaults {
  /** The error that answers every request; undefined: none. */
  refusal: [type: string, message: string] | undefined;
  /** The curve that answers give as the key's specification. */
  curve: Curve;
}

function actionOf(asked: Asked, credentials: AwsCredentials): 'GetPublicKey' | 'Sign' {
  checkSignature(asked, credentials, { region: REGION, service: 'kms' });
  const { method, url, headers } = asked;
  const action = /^TrentService\.(GetPublicKey|Sign)$/.exec(String(headers['x-amz-target']))?.[1];
  if (method !== 'POST' || url.pathname !== '/' || headers['content-type'] !== 'application/x-amz-json-1.1') {
    throw new SignatureFault('UnknownOperationException', '');
  }
  if (action !== 'GetPublicKey' && action !== 'Sign') throw new SignatureFault('UnknownOperationException', '');
  return action;
}

function signRequest(body: Record<string, unknown>, curve: Curve): { message: Buffer; algorithm: string } {
  const algorithm = String(body['SigningAlgorithm']);
  if (!ALGORITHMS[curve].includes(algorithm)) {
    throw new SignatureFault(
      'InvalidKeyUsageException',
      `Algorithm ${algorithm} is incompatible with key spec ${SPECS[curve]}.`,
    );
  }
  const message = Buffer.from(String(body['Message']), 'base64');
  const isDigest = body['MessageType'] === 'DIGEST';
  if (isDigest !== (curve === 'secp256k1')) {
    throw new SignatureFault('ValidationException', `MessageType is not supported with ${algorithm}`);
  }
  if (isDigest && message.length !== 32) {
    throw new SignatureFault('ValidationException', `Digest is invalid length for algorithm ${algorithm}.`);
  }
  if (message.length < 1 || message.length > 4096) {
    throw new SignatureFault('ValidationException', "Value at 'message' failed to satisfy constraint");
  }
  return { message, algorithm };
}

function said(status: number, json: object): Answered {
  return { status, json, headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-requestid': 'r' } };
}
