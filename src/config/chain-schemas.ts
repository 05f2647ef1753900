import type { z } from 'zod';
import type { JsonObject } from '../domain/json/json.ts';
import type { NetworkType } from '../domain/network-type.ts';
import type { SpendingForms } from '../domain/transaction/spending.ts';

/** What the configuration needs to know of a chain family; each `Chain` has it. */
export interface ChainSchemas {
  readonly type: NetworkType;
  /** What its accounts sign on. */
  readonly curve: string;
  readonly policySchema: z.ZodType<JsonObject>;
  policyFault?(policies: JsonObject, network: string): string | null;
  readonly spending?: Pick<SpendingForms, 'recipient' | 'selector'>;
  readonly networkSchema: z.ZodType<JsonObject>;
  readonly builtInNetworks: readonly JsonObject[];
}

/** The chain families at hand, by network type. */
export type KnownChains = ReadonlyMap<NetworkType, ChainSchemas>;

/** The signer kinds at hand, by the `type` of an entry. */
export type KnownSignerKinds = ReadonlyMap<string, KnownSignerKind>;

/** What the configuration needs to know of a kind of signer; each `SignerKind` has it. */
export interface KnownSignerKind {
  readonly curves: readonly string[];
  /** Those of one signer, where its configuration says it. */
  curvesOf?(config: unknown): readonly string[];
  readonly notFor?: Partial<Record<NetworkType, string>>;
  readonly configSchema: z.ZodType;
  readonly variables?: readonly string[];
  /** Where its key is, if in a file of this machine. */
  fileOf?(config: unknown): string;
}
