import { Keypair, xdr } from '@stellar/stellar-sdk/base';
import type { Json, JsonObject } from '../../domain/json/json.ts';
import { EndpointUnfit, type ReadOne, type RpcClient } from '../../egress/rpc/rpc-client.ts';
import { onlyServing } from '../only-serving.ts';

/** A network by its passphrase, which every signature binds. Nodes take parameters by name only. */
export const PASSPHRASE = { method: 'getNetwork', params: null, served: passphrase } as const;

/** The same endpoints, where only those that serve the network are believed. */
export function onlyOn(chain: string, rpc: RpcClient): RpcClient {
  return onlyServing(rpc, { ...PASSPHRASE, chain });
}

/** The newest ledger that a node knows. */
export interface LatestLedger {
  sequence: bigint;
  /** When it closed, in milliseconds since the epoch. */
  closedAt: number;
}

export function latestLedger(read: ReadOne): Promise<LatestLedger> {
  return read('getLatestLedger', null, (answer) => {
    const { sequence, closeTime } = object(answer);
    // Nodes before protocol 23 leave it out.
    if (closeTime === undefined) {
      throw new EndpointUnfit('it does not tell when its ledgers closed', { pauseMs: 0 });
    }
    return { sequence: integer(sequence), closedAt: Number(integer(closeTime)) * 1_000 };
  });
}

/** An account as a ledger left it, in stroops. */
export interface LedgerAccount {
  balance: bigint;
  /** What its offers promise to others. */
  promised: bigint;
  /** The last that was used. */
  sequence: bigint;
  /** What the ledger keeps for it: each is worth one base reserve. */
  reserves: bigint;
}

/** Null where there is no such account. */
export function accountAt(read: ReadOne, address: string): Promise<{ ledger: bigint; account: LedgerAccount | null }> {
  const accountId = Keypair.fromPublicKey(address).xdrAccountId();
  const key = xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId })).toXdr('base64');
  return read('getLedgerEntries', { keys: [key] }, (answer) => {
    const { entries, latestLedger: ledger } = object(answer);
    const found = entries == null ? [] : array(entries).map(object);
    if (found.some((entry) => entry['key'] !== key)) throw new TypeError('not the entry that was asked for');
    const [entry] = found;
    return { ledger: integer(ledger), account: entry === undefined ? null : accountIn(entry) };
  });
}

function accountIn({ xdr: text }: JsonObject): LedgerAccount {
  const data = xdr.LedgerEntryData.fromXdr(string(text), 'base64');
  if (data.type !== 'account') throw new TypeError('not an account');
  const { balance, seqNum: sequence, numSubEntries, ext } = data.account;
  const v1 = ext.type === 'v1' ? ext.v1 : undefined;
  const v2 = v1?.ext.type === 'v2' ? v1.ext.v2 : undefined;
  return {
    balance,
    sequence,
    promised: v1?.liabilities.selling ?? 0n,
    // Two for the account itself; what others sponsor they keep, and it keeps what it sponsors.
    reserves: BigInt(2 + numSubEntries + (v2?.numSponsoring ?? 0) - (v2?.numSponsored ?? 0)),
  };
}

/** What of ten operations lately nine paid at most for their place, in stroops. */
export function usualFee(read: ReadOne): Promise<bigint> {
  return read('getFeeStats', null, (answer) => integer(object(object(answer)['inclusionFee'])['p90']));
}

/** What a node knows of one transaction. */
export interface Lookup {
  /** The newest and the oldest ledger of the node's history. */
  latest: bigint;
  oldest: bigint;
  /** When the newest closed, in Unix seconds. */
  closedAt: bigint;
  landed: { ledger: bigint; succeeded: boolean; result: string | undefined } | null;
}

export function lookUp(read: ReadOne, hash: string): Promise<Lookup> {
  return read('getTransaction', { hash }, (answer) => {
    const told = object(answer);
    return {
      latest: integer(told['latestLedger']),
      oldest: integer(told['oldestLedger']),
      closedAt: integer(told['latestLedgerCloseTime']),
      landed: landedIn(told),
    };
  });
}

function landedIn({ status, ledger, resultXdr }: JsonObject): Lookup['landed'] {
  if (status === 'NOT_FOUND') return null;
  if (status !== 'SUCCESS' && status !== 'FAILED') throw new TypeError('not a status');
  // That it is there counts, whatever a newer protocol makes of its result.
  const result = typeof resultXdr === 'string' ? resultXdr : undefined;
  return { ledger: integer(ledger), succeeded: status === 'SUCCESS', result };
}

function passphrase(answer: Json): string {
  const { passphrase: told } = object(answer);
  if (typeof told !== 'string' || told === '') throw new TypeError('not a passphrase');
  return told;
}

/** Ledgers come as numbers, times and amounts as texts. */
function integer(value: Json | undefined): bigint {
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value);
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  throw new TypeError('not an amount');
}

function string(value: Json | undefined): string {
  if (typeof value !== 'string') throw new TypeError('not a text');
  return value;
}

function object(value: Json | undefined): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('not an object');
  return value;
}

function array(value: Json | undefined): Json[] {
  if (!Array.isArray(value)) throw new TypeError('not a list');
  return value;
}
