import type { JsonObject } from '../domain/json/json.ts';

/** The account that a lane sends from and the policy of the relayer that asked. */
export interface Account {
  address: string;
  policies: JsonObject;
  /** The identity of the chain that the network is pinned to. Absent: unknown. */
  identity?: string | undefined;
  /**
   * The most that the account's transactions outside any block can take, in the smallest unit. Present where a
   * signature is made beside those transactions.
   */
  committed?(): Promise<bigint>;
  /**
   * Whether what is signed without being sent may spend what the account holds: whoever asks may send as well. Absent:
   * it may not.
   */
  maySpend?: boolean | undefined;
}
