import type { JsonObject } from '../domain/json/json.ts';

/** The account that a lane sends from and the policy of the relayer that asked. */
export interface Account {
  address: string;
  policies: JsonObject;
  /** Of the chain that the network is pinned to, where that is known. */
  identity?: string | undefined;
  /** What its transactions that are in no block can take, where something is signed beside them; in the smallest unit. */
  committed?(): Promise<bigint>;
}
