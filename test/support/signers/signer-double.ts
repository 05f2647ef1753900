import type { JsonObject } from '../../../src/domain/json/json.ts';
import type { Curve } from '../../../src/signers/signer.ts';
import type { Answered, ServiceDouble } from './service-double.ts';
import type { ServiceKey } from './service-key.ts';

/** A service that keeps a key on one curve, with what can go wrong with it. */
export interface SignerDouble {
  readonly type: string;
  readonly curve: Curve;
  readonly service: ServiceDouble;
  /** The key that it has. */
  readonly key: ServiceKey;
  readonly publicKey: Buffer;
  /** The `config` of a signer entry on it. */
  readonly config: JsonObject;
  /** What it signs, where that is not any bytes. */
  readonly payload?: (publicKey: Buffer) => Buffer;
  /** Variables that the kind looks into by itself. */
  readonly environment?: Record<string, string>;
  /** What must show nowhere: credentials, and what the service hands out for them. */
  secrets(): string[];
  /** Whether it hands the key out, so that what becomes of it later changes nothing. */
  readonly givesKeyAway?: boolean;
  /** How it says that it is asked too much. */
  readonly busy: Answered;
  /** From now on it signs with another key, as when it was rotated or repointed. */
  mixUp(): void;
  /** The key or the right to it is taken away. */
  revoke(): void;
  /** The right is given back. */
  restore(): void;
}
