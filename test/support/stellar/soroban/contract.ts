import type { xdr } from '@stellar/stellar-sdk';
import type { Host } from './host.ts';

/** What runs where a real network runs a contract's code. */
export type ContractFunction = (host: Host, self: string, args: readonly xdr.ScVal[]) => xdr.ScVal;

export interface Contract {
  readonly functions: Readonly<Record<string, ContractFunction>>;
}
