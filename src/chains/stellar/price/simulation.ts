import { xdr } from '@stellar/stellar-sdk/base';
import { z } from 'zod';
import { amountOf, amountUpTo } from '../../../domain/amount.ts';
import type { Json, JsonObject } from '../../../domain/json/json.ts';
import { printable } from '../../../domain/printable.ts';
import { EndpointUnfit, type ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import { contractErrorIn } from '../errors.ts';
import { addressValue, amountOfValue, callOperation } from '../message/contract.ts';

/** What a node finds when it runs a contract's operation on its ledger, without effect. */
export type SimulationResult =
  | {
      kind: 'ran';
      /** What the operation may touch and use, with what that costs. */
      data: xdr.SorobanTransactionData;
      /** The fee for all resources, in stroops, without the place in a ledger. */
      fee: bigint;
      /** The consents that were given; where none were given, those that are needed. */
      consents: readonly xdr.SorobanAuthorizationEntry[];
      /** What the function gave back, in base64; null where the node does not tell. */
      returned: string | null;
    }
  /** Entries that the operation touches are archived. `data` is what an operation that restores them needs. */
  | { kind: 'archived'; data: xdr.SorobanTransactionData }
  | { kind: 'failed'; reason: string };

interface SimulationRequest {
  source: xdr.MuxedAccount;
  operation: xdr.Operation;
  /** What the operation touches, for kinds of operations where a simulation does not find it out; otherwise null. */
  data: xdr.SorobanTransactionData | null;
  /** Whether the operation goes without consents. Otherwise the needed consents are found where it has none. */
  isBare: boolean;
}

const MAX_REASON = 500;

/** In the reference's words. */
const FAILED = 'Stellar transaction simulation failed:';

/** Has a node run an operation without effect. */
export function simulateOperation(read: ReadFromEndpoint, request: SimulationRequest): Promise<SimulationResult> {
  return read('simulateTransaction', paramsOf(request), resultIn, { isLong: true });
}

function paramsOf({ source, operation, data, isBare }: SimulationRequest): JsonObject {
  const transaction = new xdr.Transaction({
    sourceAccount: source,
    fee: 100,
    // A simulation looks neither at the sequence nor at signatures.
    seqNum: 0n,
    cond: xdr.Preconditions.precondNone(),
    memo: xdr.Memo.memoNone(),
    operations: [operation],
    ext: data === null ? xdr.TransactionExt.v0() : xdr.TransactionExt.sorobanData(data),
  });
  const envelope = new xdr.TransactionV1Envelope({ tx: transaction, signatures: [] });
  const text = xdr.TransactionEnvelope.envelopeTypeTx(envelope).toXdr('base64');
  // A node enforces given consents without being told, and older nodes know no modes.
  return isBare ? { transaction: text, authMode: 'enforce' } : { transaction: text };
}

const fee = amountUpTo(2n ** 63n - 1n);

const answerSchema = z.object({
  error: z.string().nullish(),
  events: z.array(z.string()).nullish(),
  restorePreamble: z.object({ transactionData: z.string(), minResourceFee: fee }).nullish(),
  transactionData: z.string().optional(),
  minResourceFee: fee.optional(),
  results: z.array(z.object({ auth: z.array(z.string()).nullish(), xdr: z.string().nullish() })).nullish(),
});

function resultIn(answer: Json): SimulationResult {
  const {
    error,
    events,
    restorePreamble: restore,
    transactionData,
    minResourceFee,
    results,
  } = answerSchema.parse(answer);
  if (error != null) {
    const reason = failureOf(error, events ?? []);
    if (isAboutCall(error)) return { kind: 'failed', reason };
    throw new EndpointUnfit(reason, { pauseMs: 0 });
  }
  if (restore != null) {
    return { kind: 'archived', data: dataOf(restore.transactionData, amountOf(restore.minResourceFee)) };
  }
  if (transactionData === undefined || minResourceFee === undefined)
    throw new TypeError('neither a result nor an error');
  const resourceFee = amountOf(minResourceFee);
  const consents = (results?.[0]?.auth ?? []).map((text) => xdr.SorobanAuthorizationEntry.fromXdr(text, 'base64'));
  const returned = results?.[0]?.xdr ?? null;
  return { kind: 'ran', data: dataOf(transactionData, resourceFee), fee: resourceFee, consents, returned };
}

/**
 * Whether a node's error is about the call itself. Nodes put their own troubles into the same field: a full queue, a
 * ledger that is not there yet, a lost connection to their database. Those say nothing of the call, and nor do internal
 * errors of the host, which a ledger entry that could not be read causes. The other texts are those of stellar-rpc
 * (`simulate_transaction.go`) and of the simulation of operations that are no call (soroban-simulation).
 */
function isAboutCall(error: string): boolean {
  if (/HostError: Error\(/.test(error)) return !/HostError: Error\(\w+, InternalError\)/.test(error);
  return ABOUT_CALL.test(error);
}

const ABOUT_CALL =
  /^(could not unmarshal|transaction contains|to perform a simulatetransaction|cannot set authmode)|footprint|ttl|restor|durab|archiv|missing (?:entry|key)/i;

function dataOf(text: string, resourceFee: bigint): xdr.SorobanTransactionData {
  const { ext, resources } = xdr.SorobanTransactionData.fromXdr(text, 'base64');
  return new xdr.SorobanTransactionData({ ext, resources, resourceFee });
}

/** The reason of a failure: the first line of the error. The other lines are a log of all that was called. */
function failureOf(error: string, events: readonly string[]): string {
  const [first = ''] = error.split('\n');
  const contractError = contractErrorIn(events);
  return `${FAILED} ${printable(first, MAX_REASON)}${contractError === undefined ? '' : ` ${contractError}`}`;
}

/** A stand-in for the account that asks: any account may ask, even one that does not exist. */
const NOBODY = xdr.MuxedAccount.keyTypeEd25519(Buffer.alloc(32));

/** The return value of a contract's function, called without effect; a text says why there is none. */
export async function readContract(
  read: ReadFromEndpoint,
  { contract, name, args }: { contract: string; name: string; args: readonly xdr.ScVal[] },
): Promise<xdr.ScVal | string> {
  const operation = callOperation(contract, name, args);
  const result = await simulateOperation(read, { source: NOBODY, operation, data: null, isBare: false });
  if (result.kind === 'failed') return result.reason;
  if (result.kind === 'archived') return `${contract} has been archived`;
  const { returned } = result;
  return returned === null ? `${name} of ${contract} returns nothing` : xdr.ScVal.fromXdr(returned, 'base64');
}

/** How much an account or a contract has of a token (SEP-41); zero where the contract does not tell. */
export async function tokenBalance(read: ReadFromEndpoint, token: string, owner: string): Promise<bigint> {
  const balance = await readContract(read, { contract: token, name: 'balance', args: [addressValue(owner)] });
  return typeof balance === 'string' ? 0n : amountOfValue(balance);
}

/** Whether a contract is a token: it tells how many decimals it has. */
export async function isToken(read: ReadFromEndpoint, token: string): Promise<boolean> {
  const decimals = await readContract(read, { contract: token, name: 'decimals', args: [] });
  return typeof decimals !== 'string' && decimals.type === 'scvU32';
}
