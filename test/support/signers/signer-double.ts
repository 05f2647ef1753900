import type { JsonObject } from '../../../src/domain/json/json.ts';
import type { Curve } from '../../../src/signers/signer.ts';
import type { Answered, ServiceDouble } from './service-double.ts';
import type { ServiceKey } from './service-key.ts';

/** A service that keeps a key on one curve, and its possible failures. */
export interface SignerDouble {
  readonly type: string;
  readonly curve: Curve;
  readonly service: ServiceDouble;
  /** The service's key. */
  readonly key: ServiceKey;
  readonly publicKey: Buffer;
  /** The `config` of a signer entry on it. */
  readonly config: JsonObject;
  /** Makes a payload that it signs, if it does not sign any bytes. */
  readonly payload?: (publicKey: Buffer) => Buffer;
  /** Environment variables that the kind reads by itself. */
  readonly environment?: Record<string, string>;
  /** Secrets that must not appear anywhere: credentials, and the tokens issued for them. */
  secrets(): string[];
  /** Whether it hands out the key. Then later changes in the service have no effect. */
  readonly givesKeyAway?: boolean;
  /** Its answer when it gets too many requests. */
  readonly busy: Answered;
  /** Makes it sign with another key, as after a rotation. */
  mixUp(): void;
  /** Takes away the key, or the right to use it. */
  revoke(): void;
  /** Gives the right back. */
  restore(): void;
}
