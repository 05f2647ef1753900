import { Address, type Asset, Keypair, xdr } from '@stellar/stellar-sdk/base';
import { type Json, type JsonObject, listIn, objectIn } from '../../domain/json/json.ts';
import type { ReadFromEndpoint, RpcClient } from '../../egress/rpc/rpc-client.ts';
import { askOptionalFigure } from '../optional-figure.ts';
import { onlyEndpointsServing } from '../served-chain.ts';
import { isTransactionResultSuccess } from './errors.ts';
import { BASE_FEE } from './fees.ts';
import { asksForMemo, memoRequiredKeys, type PaymentParts } from './guard/memo.ts';

/**
 * How a node is asked which network it serves: by the passphrase, which every signature covers. Nodes take parameters
 * by name only.
 */
export const PASSPHRASE = { method: 'getNetwork', params: null, served: passphrase } as const;

/** The same endpoints. Only endpoints that serve this network are believed. */
export function onlyOnChain(chain: string, rpc: RpcClient): RpcClient {
  return onlyEndpointsServing(rpc, { ...PASSPHRASE, chain });
}

/** The newest ledger that a node knows. */
export interface LatestLedger {
  sequence: bigint;
  /** When it closed, in milliseconds since the epoch. */
  closedAt: number;
  /** What an account keeps for each of its entries, in stroops. */
  baseReserve: bigint;
}

/** The base reserve where a node does not tell it. All networks have had this value for years. */
const USUAL_RESERVE = 5_000_000n;

export async function latestLedger(read: ReadFromEndpoint): Promise<LatestLedger> {
  const reply = await read('getLatestLedger', null, (answer) => {
    const { sequence, closeTime, headerXdr } = objectIn(answer);
    const moment = { sequence: integer(sequence), baseReserve: reserveIn(headerXdr) };
    return { ...moment, closedAt: closeTime === undefined ? null : secondsIn(closeTime) };
  });
  if (reply.closedAt !== null) return { ...reply, closedAt: reply.closedAt };
  // stellar-rpc before version 25 tells the close time only beside other answers. No transaction has this hash.
  const moment = await read('getTransaction', { hash: '00'.repeat(32) }, (answer) => {
    const { latestLedger: sequence, latestLedgerCloseTime: closeTime } = objectIn(answer);
    return { sequence: integer(sequence), closedAt: secondsIn(closeTime) };
  });
  return { ...moment, baseReserve: reply.baseReserve };
}

/** Unix seconds in milliseconds. */
const secondsIn = (value: Json | undefined): number => Number(integer(value)) * 1_000;

/**
 * The base reserve in a ledger's header. A header of a newer protocol cannot be read. The usual value then stands in,
 * so that sending goes on.
 */
function reserveIn(header: Json | undefined): bigint {
  if (typeof header !== 'string') return USUAL_RESERVE;
  try {
    return BigInt(xdr.LedgerHeader.fromXdr(header, 'base64').baseReserve);
  } catch {
    return USUAL_RESERVE;
  }
}

/** An account as a ledger left it, in stroops. */
export interface LedgerAccount {
  balance: bigint;
  /** What its offers promise to others. */
  promised: bigint;
  /** The last used sequence. */
  sequence: bigint;
  /** The ledger in which it was used (CAP-21); null for an account that has sent nothing since protocol 19. */
  usedIn: bigint | null;
  /** How many base reserves the ledger keeps back from the account's balance. */
  reserves: bigint;
  authority: SigningAuthority;
}

/** Whose signatures count for an account, and what they have to weigh together. */
export interface SigningAuthority {
  signers: readonly { key: xdr.SignerKey; weight: number }[];
  thresholds: { low: number; medium: number; high: number };
}

/** Null where there is no such account. */
export async function getAccount(
  read: ReadFromEndpoint,
  address: string,
): Promise<{ ledger: bigint; account: LedgerAccount | null }> {
  const { ledger, accounts } = await getAccounts(read, [address]);
  return { ledger, account: accounts.get(address) ?? null };
}

/** The account that pays, and a receiver that asks for a memo which the transaction does not have (SEP-29). */
export interface Payer {
  account: LedgerAccount | null;
  memoRequiredBy: string | undefined;
}

/** Reads both with one question. */
export function getPayer(read: ReadFromEndpoint, address: string, paying: PaymentParts): Promise<Payer> {
  const key = accountKey(address);
  const receivers = memoRequiredKeys(paying, address);
  return read('getLedgerEntries', { keys: [key, ...receivers.keys()] }, (answer) => {
    const found = entriesIn(answer, [key, ...receivers.keys()], (data) => data);
    const account = found.get(key);
    const wanting = [...receivers].find(([one]) => {
      const data = found.get(one);
      return data !== undefined && asksForMemo(data);
    });
    return { account: account === undefined ? null : accountIn(account), memoRequiredBy: wanting?.[1] };
  });
}

function accountKey(address: string): string {
  const accountId = Keypair.fromPublicKey(address).xdrAccountId();
  return xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId })).toXdr('base64');
}

/** The accounts that exist. Nodes look up 200 entries at once, and no transaction names more accounts. */
export function getAccounts(
  read: ReadFromEndpoint,
  addresses: readonly string[],
): Promise<{ ledger: bigint; accounts: Map<string, LedgerAccount> }> {
  const keys = addresses.map(accountKey);
  return read('getLedgerEntries', { keys }, (answer) => {
    const found = entriesIn(answer, keys, accountIn);
    const accounts = addresses.flatMap((address, index): [string, LedgerAccount][] => {
      const account = found.get(keys[index] ?? '');
      return account === undefined ? [] : [[address, account]];
    });
    return { ledger: integer(objectIn(answer)['latestLedger']), accounts: new Map(accounts) };
  });
}

/** The requested entry; null where it does not exist. */
function entryIn<T>(answer: Json, key: string, take: (entry: xdr.LedgerEntryData) => T): T | null {
  return entriesIn(answer, [key], take).get(key) ?? null;
}

/** The requested entries that exist, by their keys. */
function entriesIn<T>(answer: Json, keys: readonly string[], take: (entry: xdr.LedgerEntryData) => T): Map<string, T> {
  const { entries } = objectIn(answer);
  const found = entries == null ? [] : listIn(entries).map(objectIn);
  return new Map(
    found.map((entry): [string, T] => {
      const key = string(entry['key']);
      if (!keys.includes(key)) throw new TypeError('not the entry that was asked for');
      return [key, take(xdr.LedgerEntryData.fromXdr(string(entry['xdr']), 'base64'))];
    }),
  );
}

function accountIn(data: xdr.LedgerEntryData): LedgerAccount {
  if (data.type !== 'account') throw new TypeError('not an account');
  const { accountId, balance, seqNum: sequence, numSubEntries, signers, thresholds, ext } = data.account;
  const [master = 0, low = 0, medium = 0, high = 0] = thresholds.toBytes();
  const own = { key: xdr.SignerKey.signerKeyTypeEd25519(accountId.ed25519), weight: master };
  const v1 = ext.type === 'v1' ? ext.v1 : undefined;
  const v2 = v1?.ext.type === 'v2' ? v1.ext.v2 : undefined;
  const v3 = v2?.ext.type === 'v3' ? v2.ext.v3 : undefined;
  return {
    balance,
    sequence,
    usedIn: v3 === undefined ? null : BigInt(v3.seqLedger),
    promised: v1?.liabilities.selling ?? 0n,
    // Two are for the account itself. A sponsor keeps the reserves of the entries that it sponsors.
    reserves: BigInt(2 + numSubEntries + (v2?.numSponsoring ?? 0) - (v2?.numSponsored ?? 0)),
    authority: { signers: master > 0 ? [own, ...signers] : signers, thresholds: { low, medium, high } },
  };
}

/**
 * How much of an asset an account can give away, in its smallest unit; null where the account has no trust line for it.
 */
export function getSpendableBalance(read: ReadFromEndpoint, address: string, asset: Asset): Promise<bigint | null> {
  const accountId = Keypair.fromPublicKey(address).xdrAccountId();
  const line = new xdr.LedgerKeyTrustLine({ accountId, asset: asset.toTrustLineXdrObject() });
  const key = xdr.LedgerKey.trustline(line).toXdr('base64');
  return read('getLedgerEntries', { keys: [key] }, (answer) => entryIn(answer, key, spendableIn));
}

/** A flag of a trust line (`TrustLineFlags`). */
const AUTHORIZED = 1;

function spendableIn(data: xdr.LedgerEntryData): bigint {
  if (data.type !== 'trustline') throw new TypeError('not a trust line');
  const { balance, flags, ext } = data.trustLine;
  // Without the flag, the asset's issuer forbids transfers.
  if ((flags & AUTHORIZED) === 0) return 0n;
  return balance - (ext.type === 'v1' ? ext.v1.liabilities.selling : 0n);
}

/**
 * A contract as a ledger left it: which code runs there, and what the contract stores; null where there is no contract.
 */
export function getContract(read: ReadFromEndpoint, address: string): Promise<xdr.ScContractInstance | null> {
  const data = new xdr.LedgerKeyContractData({
    contract: new Address(address).toScAddress(),
    key: xdr.ScVal.scvLedgerKeyContractInstance(),
    durability: xdr.ContractDataDurability.persistent,
  });
  const key = xdr.LedgerKey.contractData(data).toXdr('base64');
  return read('getLedgerEntries', { keys: [key] }, (answer) => entryIn(answer, key, instanceIn));
}

function instanceIn(data: xdr.LedgerEntryData): xdr.ScContractInstance {
  if (data.type !== 'contractData' || data.contractData.val.type !== 'scvContractInstance') {
    throw new TypeError('not a contract');
  }
  return data.contractData.val.instance;
}

/**
 * The most that nine of ten recent operations paid for their place in a ledger, in stroops; the base fee where a node
 * does not tell. Operations of contracts have places of their own.
 */
export async function usualFee(read: ReadFromEndpoint, kind: 'inclusionFee' | 'sorobanInclusionFee'): Promise<bigint> {
  const reply = await askOptionalFigure(read, {
    method: 'getFeeStats',
    params: null,
    parse: (answer) => integer(objectIn(objectIn(answer)[kind])['p90']),
    cost: `Transactions bid the base fee of ${BASE_FEE} stroops at first`,
  });
  return reply ?? BASE_FEE;
}

/** What a node tells of a transaction that is in a ledger. The base64 texts may be of a newer protocol. */
export interface LedgerInclusion {
  ledger: bigint;
  succeeded: boolean;
  result: string | undefined;
  /** The envelope as the ledger took it. */
  envelope: string | undefined;
  /** What the transaction changed. */
  meta: string | undefined;
  /** The diagnostic events of its contracts. */
  events: string[];
}

/** What a node knows of one transaction. */
export interface TransactionLookup {
  /** The newest and the oldest ledger of the node's history. */
  latest: bigint;
  oldest: bigint;
  /** When the newest ledger closed, in Unix seconds. */
  closedAt: bigint;
  inclusion: LedgerInclusion | null;
}

export function getTransaction(read: ReadFromEndpoint, hash: string): Promise<TransactionLookup> {
  return read('getTransaction', { hash }, (answer) => {
    const reply = objectIn(answer);
    return {
      latest: integer(reply['latestLedger']),
      oldest: integer(reply['oldestLedger']),
      closedAt: integer(reply['latestLedgerCloseTime']),
      inclusion: inclusionIn(reply),
    };
  });
}

function inclusionIn(reply: JsonObject): LedgerInclusion | null {
  const { status, ledger, diagnosticEventsXdr: events } = reply;
  if (status === 'NOT_FOUND') return null;
  if (status !== 'SUCCESS' && status !== 'FAILED') throw new TypeError('not a status');
  // The transaction counts as landed even where a newer protocol makes the rest unreadable.
  const texts = Array.isArray(events) ? events.filter((event) => typeof event === 'string') : [];
  const inclusion: LedgerInclusion = {
    ledger: integer(ledger),
    succeeded: status === 'SUCCESS',
    result: textIn(reply['resultXdr']),
    envelope: textIn(reply['envelopeXdr']),
    meta: textIn(reply['resultMetaXdr']),
    events: texts,
  };
  if (isTransactionResultSuccess(inclusion.result) === !inclusion.succeeded)
    throw new TypeError('a status that the result contradicts');
  return inclusion;
}

/** When a ledger closed, in milliseconds since the epoch. */
export function closeTimeOf(read: ReadFromEndpoint, ledger: bigint): Promise<number> {
  const params = { startLedger: Number(ledger), pagination: { limit: 1 } };
  return read('getLedgers', params, (answer) => {
    const [first] = listIn(objectIn(answer)['ledgers']);
    return Number(integer(objectIn(first)['ledgerCloseTime'])) * 1_000;
  });
}

/** A page of the network's transactions, in the order of the chain. */
export interface ListedTransactions {
  transactions: readonly { envelope: string; ledger: bigint }[];
  /** The oldest ledger of the node's history, and when it closed, in milliseconds since the epoch. */
  oldest: bigint;
  oldestClosedAt: number;
  cursor: string;
}

export function transactionsFrom(
  read: ReadFromEndpoint,
  page: { limit: number } & ({ ledger: bigint } | { cursor: string }),
): Promise<ListedTransactions> {
  const { limit } = page;
  const params =
    'ledger' in page
      ? { startLedger: Number(page.ledger), pagination: { limit } }
      : { pagination: { cursor: page.cursor, limit } };
  return read(
    'getTransactions',
    params,
    (answer) => {
      const reply = objectIn(answer);
      return {
        transactions: listIn(reply['transactions'])
          .map(objectIn)
          .map(({ envelopeXdr, ledger }) => ({ envelope: string(envelopeXdr), ledger: integer(ledger) })),
        oldest: integer(reply['oldestLedger']),
        oldestClosedAt: Number(integer(reply['oldestLedgerCloseTimestamp'])) * 1_000,
        cursor: string(reply['cursor']),
      };
    },
    { isLong: true },
  );
}

const textIn = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

function passphrase(answer: Json): string {
  const { passphrase: reply } = objectIn(answer);
  if (typeof reply !== 'string' || reply === '') throw new TypeError('not a passphrase');
  return reply;
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
