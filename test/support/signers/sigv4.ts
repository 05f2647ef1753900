import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Asked } from './service-double.ts';

/** The credentials of an allowed caller. */
export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** AWS's answer to a request with a wrong signature. */
export class SignatureFault extends Error {
  override readonly name: string;

  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

const HEADER =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;
const WITHIN_MS = 300_000;

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/**
 * Checks Signature Version 4 of a request, as a service does.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 * @throws SignatureFault
 */
export function checkSignature(asked: Asked, known: AwsCredentials, scope: { region: string; service: string }): void {
  const { headers } = asked;
  const authorization = headers.authorization;
  if (authorization === undefined) {
    throw new SignatureFault('MissingAuthenticationTokenException', 'Missing Authentication Token');
  }
  const [, keyId = '', day = '', region, service, signed = '', signature = ''] = HEADER.exec(authorization) ?? [];
  if (signature === '') throw new SignatureFault('IncompleteSignatureException', 'the header cannot be read');
  const token = headers['x-amz-security-token'];
  if (keyId !== known.accessKeyId || token !== known.sessionToken) {
    throw new SignatureFault('UnrecognizedClientException', 'The security token included in the request is invalid.');
  }
  if (region !== scope.region || service !== scope.service) {
    throw new SignatureFault('InvalidSignatureException', 'Credential should be scoped to a valid region.');
  }
  const date = String(headers['x-amz-date']);
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!date.startsWith(day) || !(Math.abs(Date.now() - at) < WITHIN_MS)) {
    throw new SignatureFault('InvalidSignatureException', `Signature expired: ${date}`);
  }
  const names = signed.split(';');
  for (const needed of [
    'host',
    'x-amz-date',
    'x-amz-target',
    ...(token === undefined ? [] : ['x-amz-security-token']),
  ]) {
    if (!names.includes(needed)) throw new SignatureFault('InvalidSignatureException', `${needed} must be signed`);
  }
  const text = ['AWS4-HMAC-SHA256', date, `${day}/${region}/${service}/aws4_request`, sha256(canonical(asked, names))];
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${known.secretAccessKey}`);
  if (!timingSafeEqual(hmac(key, text.join('\n')), Buffer.from(signature, 'hex'))) {
    throw new SignatureFault(
      'InvalidSignatureException',
      'The request signature we calculated does not match the signature you provided.',
    );
  }
}

function canonical({ method, url, headers, bytes }: Asked, names: readonly string[]): string {
  const query = [...url.searchParams].map((pair) => pair.map(encodeURIComponent).join('=')).toSorted();
  const lines = names.map(
    (name) =>
      `${name}:${String(headers[name] ?? '')
        .trim()
        .replaceAll(/ +/g, ' ')}\n`,
  );
  return [method, url.pathname, query.join('&'), lines.join(''), names.join(';'), sha256(bytes)].join('\n');
}
