import { join } from 'node:path';
import type { xdr } from '@stellar/stellar-sdk';
import { Counterpart } from './counterpart/counterpart.ts';
import type { Fault } from './counterpart/faults.ts';
import {
  type Addresses,
  type Command,
  type OnChain,
  STELLAR_DEFAULTS,
  type StellarOptions,
} from './stellar/control.ts';
import type { ContractKind } from './stellar/soroban/contracts/registry.ts';

/** A network that judges as Stellar does, in a process of its own. Each of its endpoints is a node over one chain. */
export interface StellarNet extends StellarEndpoint {
  readonly passphrase: string;
  /** Gives an account so much, or makes it, in all ledgers at once and without a transaction. */
  fund(account: string, stroops: bigint): Promise<void>;
  /** The address of an asset's contract (`native` or `CODE:ISSUER`), which is there without a transaction. */
  assetContract(asset: string): Promise<string>;
  /** Makes a contract without a transaction, built with these values; resolves with its address. */
  contract(kind: ContractKind, ...args: readonly xdr.ScVal[]): Promise<string>;
  /** The life of an entry is over. */
  archive(key: xdr.LedgerKey): Promise<void>;
  /** No ledgers by the timer until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Closes so many ledgers at once; resolves with the number of the last. */
  tick(ledgers?: number): Promise<number>;
  /** Moves the network's clock on, for ledgers that are still to close. */
  travel(seconds: number): Promise<void>;
  /** The next transactions are taken in and never leave their node. */
  dropNext(count: number): Promise<void>;
  /** From now on a transaction that is taken in leaves its node only when so many ledgers have closed. */
  landLater(ledgers: number): Promise<void>;
  /** So many operations of others compete for each ledger, and bid so many stroops each; none ends it. */
  crowd(operations: number, bid?: bigint): Promise<void>;
  /** The chain starts anew, under the same passphrase. */
  reset(): Promise<void>;
  /** Every transaction on the chain, in its order: the judge of what was executed. */
  landed(): Promise<OnChain[]>;
  /** Base64 of what nodes have taken in lately, the newest last, whatever became of it. */
  takenIn(): Promise<string[]>;
  /** A further node, so many ledgers behind. */
  endpoint(options?: { behind?: number }): Promise<StellarEndpoint>;
  /** Safe to call twice. */
  stop(): Promise<void>;
}

/** One node of the network. */
export interface StellarEndpoint {
  /** Of Soroban RPC. */
  readonly url: string;
  readonly horizonUrl: string;
  /** One call, past all faults but those of the endpoint. @throws Error with the node's text */
  rpc(method: string, params?: object): Promise<unknown>;
  /** How often a method was called, or a route of Horizon by its name behind `horizon.`. */
  calls(method: string): Promise<number>;
  /** The hashes of all transactions that were offered here, in the order of arrival, whatever became of them. */
  offers(): Promise<string[]>;
  /** The node sees, and takes in by, only what is so many ledgers old. */
  setBehind(ledgers: number): Promise<void>;
  /** `getHealth` fails with these words. */
  setIll(illness: string | null): Promise<void>;
  /** What `getNetwork` tells, whatever is true. */
  setPassphrase(passphrase: string): Promise<void>;
  /** All but the newest ledger leaves the node's history. */
  pruneHistory(): Promise<void>;
  /** Makes calls fail, lie or wait; faults are taken in the order in which they were given. */
  fault(fault: Fault): Promise<void>;
  clearFaults(): Promise<void>;
}

/** Starts it on free ports of loopback; it ends with this process. */
export async function startStellar(options: StellarOptions = {}): Promise<StellarNet> {
  const main = join(import.meta.dirname, 'stellar', 'server-main.ts');
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
