import type { z } from 'zod';
import type { JsonObject } from '../domain/json/json.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { SpendingForms } from '../domain/transaction/spending.ts';

/** The parts of a chain family that the configuration uses. Each `Chain` has them. */
export interface ChainSchemas {
  readonly type: NetworkType;
  /** The curve of its accounts' keys. */
  readonly curve: string;
  readonly policySchema: z.ZodType<JsonObject>;
  policyFault?(policies: JsonObject, network: string, settings?: JsonObject): string | null;
  readonly spending?: Pick<SpendingForms, 'recipient' | 'selector'>;
  readonly networkSchema: z.ZodType<JsonObject>;
  readonly builtInNetworks: readonly JsonObject[];
}

/** The available chain families, by network type. */
export type KnownChains = ReadonlyMap<NetworkType, ChainSchemas>;

/** The available signer kinds, by the `type` of an entry. */
export type KnownSignerKinds = ReadonlyMap<string, KnownSignerKind>;

/** The parts of a signer kind that the configuration uses. Each `SignerKind` has them. */
export interface KnownSignerKind {
  readonly curves: readonly string[];
  /** The curves of one signer, if its configuration determines them. */
  curvesOf?(config: unknown): readonly string[];
  readonly notFor?: Partial<Record<NetworkType, string>>;
  readonly configSchema: z.ZodType;
  readonly variables?: readonly string[];
  /** The file of its key, if the key is in a file on this machine. */
  fileOf?(config: unknown): string;
}
