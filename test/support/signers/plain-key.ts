import type { Curve } from '../../../src/signers/signer.ts';
import { newServiceKey } from './service-key.ts';
import type { SignerSubject } from './signer-contract.ts';

/** A `plain` signer's key, as the service stores it for a client that has handed it over. */
export function plainKey(curve: Curve): SignerSubject {
  const { publicKey, secret } = newServiceKey(curve);
  const key = secret.toString('hex');
  return { type: 'plain', curve, publicKey, config: { key: { type: 'plain', value: key } }, secrets: () => [key] };
}
