import { join } from 'node:path';
import type { xdr } from '@stellar/stellar-sdk';
import { Counterpart } from '../counterpart/counterpart.ts';
import type { Fault } from '../counterpart/faults.ts';
import { type Addresses, type Command, type OnChain, STELLAR_DEFAULTS, type StellarOptions } from './control.ts';
import type { ContractKind } from './soroban/contracts/registry.ts';

/** A network with Stellar's rules, in its own process. Each of its endpoints is a node of one chain. */
export interface StellarNet extends StellarEndpoint {
  readonly passphrase: string;
  /** Adds stroops to an account, or creates it with them. Applies to all ledgers at once, without a transaction. */
  fund(account: string, stroops: bigint): Promise<void>;
  /**
   * Returns the address of an asset's contract (`native` or `CODE:ISSUER`). The contract exists without a transaction.
   */
  assetContract(asset: string): Promise<string>;
  /** Makes a contract without a transaction, built with these values; resolves with its address. */
  contract(kind: ContractKind, ...args: readonly xdr.ScVal[]): Promise<string>;
  /** Ends the lifetime of an entry, so that it is archived. */
  archive(key: xdr.LedgerKey): Promise<void>;
  /** Stops closing ledgers by the timer until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Closes so many ledgers at once; resolves with the number of the last. */
  tick(ledgers?: number): Promise<number>;
  /** Moves the network's clock on. Applies to later ledgers. */
  travel(seconds: number): Promise<void>;
  /** Makes the node accept the next `count` transactions and never pass them on. */
  dropNext(count: number): Promise<void>;
  /** Delays transactions: from now on an accepted one leaves its node after that many ledgers. */
  landLater(ledgers: number): Promise<void>;
  /** Makes validators leave the transactions out of the next ledgers, which close empty (CAP-83, protocol 28). */
  dropSets(ledgers: number): Promise<void>;
  /** Adds competing operations to each ledger, which bid so many stroops each. They never end by themselves. */
  crowd(operations: number, bid?: bigint): Promise<void>;
  /** Starts the chain again from its beginning, under the same passphrase. */
  reset(): Promise<void>;
  /** Every transaction on the chain, in order. It shows what was really executed. */
  landed(): Promise<OnChain[]>;
  /** The transactions that nodes have accepted lately, in base64, the newest last, whatever their outcome. */
  takenIn(): Promise<string[]>;
  /** Adds a node that is so many ledgers behind. */
  endpoint(options?: { behind?: number }): Promise<StellarEndpoint>;
  /** Safe to call twice. */
  stop(): Promise<void>;
}

/** One node of the network. */
export interface StellarEndpoint {
  /** The URL of Soroban RPC. */
  readonly url: string;
  readonly horizonUrl: string;
  /**
   * Makes one call. Only the endpoint's own faults apply.
   * @throws Error with the node's text
   */
  rpc(method: string, params?: object): Promise<unknown>;
  /** How often a method was called. A route of Horizon has the prefix `horizon.`. */
  calls(method: string): Promise<number>;
  /** The hashes of all transactions offered here, in the order of arrival, whatever their outcome. */
  offers(): Promise<string[]>;
  /** Makes the node so many ledgers old. It also judges transactions by that state. */
  setBehind(ledgers: number): Promise<void>;
  /** Makes `getHealth` fail with this text. */
  setIll(illness: string | null): Promise<void>;
  /** Sets the passphrase that `getNetwork` reports, even a false one. */
  setPassphrase(passphrase: string): Promise<void>;
  /** Removes all ledgers but the newest from the node's history. */
  pruneHistory(): Promise<void>;
  /** Makes calls fail, lie or wait. Faults apply in the order in which they were given. */
  fault(fault: Fault): Promise<void>;
  clearFaults(): Promise<void>;
}

/** Starts the network on free ports of loopback. It ends with this process. */
export async function startStellar(options: StellarOptions = {}): Promise<StellarNet> {
  const main = join(import.meta.dirname, 'server-main.ts');
  const control = await Counterpart.start<Command>(main, options);
  const first = await endpointAt(control, 0, 0);
  let opened = 1;
  return {
    ...first,
    passphrase: options.passphrase ?? STELLAR_DEFAULTS.passphrase,
    fund: (account, stroops) => control.do({ kind: 'fund', account, stroops }),
    assetContract: async (asset) => String(await control.ask({ kind: 'asset-contract', asset })),
    async contract(kind, ...args) {
      const given = args.map((arg) => arg.toXdr('base64'));
      return String(await control.ask({ kind: 'contract', contract: kind, args: given }));
    },
    archive: (key) => control.do({ kind: 'archive', key: key.toXdr('base64') }),
    pause: () => control.do({ kind: 'pause' }),
    resume: () => control.do({ kind: 'resume' }),
    tick: async (ledgers = 1) => (await control.ask({ kind: 'tick', ledgers })) as number,
    travel: (seconds) => control.do({ kind: 'travel', seconds }),
    dropNext: (count) => control.do({ kind: 'drop', count }),
    landLater: (ledgers) => control.do({ kind: 'delay', ledgers }),
    dropSets: (ledgers) => control.do({ kind: 'drop-sets', ledgers }),
    crowd: (operations, bid = 0n) => control.do({ kind: 'crowd', operations, bid }),
    reset: () => control.do({ kind: 'reset' }),
    landed: async () => (await control.ask({ kind: 'landed' })) as OnChain[],
    takenIn: async () => (await control.ask({ kind: 'taken-in' })) as string[],
    endpoint: ({ behind = 0 } = {}) => endpointAt(control, opened++, behind),
    stop: () => control.stop(),
  };
}

async function endpointAt(control: Counterpart<Command>, endpoint: number, behind: number): Promise<StellarEndpoint> {
  const { url, horizonUrl } = (await control.ask({ kind: 'open', behind })) as Addresses;
  return {
    url,
    horizonUrl,
    rpc: (method, params) => call(url, method, params),
    async calls(method) {
      const counts = (await control.ask({ kind: 'calls', endpoint })) as Map<string, number>;
      return counts.get(method) ?? 0;
    },
    offers: async () => (await control.ask({ kind: 'offers', endpoint })) as string[],
    setBehind: (ledgers) => control.do({ kind: 'behind', endpoint, ledgers }),
    setIll: (illness) => control.do({ kind: 'illness', endpoint, illness }),
    setPassphrase: (passphrase) => control.do({ kind: 'passphrase', endpoint, passphrase }),
    pruneHistory: () => control.do({ kind: 'prune', endpoint }),
    fault: (fault) => control.do({ kind: 'fault', endpoint, fault }),
    clearFaults: () => control.do({ kind: 'clear-faults', endpoint }),
  };
}

async function call(url: string, method: string, params: object | undefined): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...(params === undefined ? {} : { params }) }),
  });
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}
