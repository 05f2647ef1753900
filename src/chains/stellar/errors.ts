import { xdr } from '@stellar/stellar-sdk/base';
import { isObject, type Json } from '../../domain/json/json.ts';
import { printable } from '../../domain/printable.ts';
import type { RpcError } from '../../egress/rpc/rpc-client.ts';
import type { OfferVerdict } from '../broadcasting.ts';
import type { BroadcastOutcome } from '../chain-client.ts';

type Kind = Exclude<BroadcastOutcome['kind'], 'accepted'>;

/** What the result codes of nodes mean (stellar-core, `TransactionResultCode`). Any other code refuses the bytes. */
const KINDS: Readonly<Record<string, Kind>> = {
  // The sequence may also be ahead of the account's. A look at the chain tells.
  txBadSeq: 'anchor-used',
  txBadMinSeqAgeOrGap: 'busy',
  txTooLate: 'lapsed',
  txTooEarly: 'busy',
  txInsufficientFee: 'fee-too-low',
  txInsufficientBalance: 'unfunded',
  // The node may be behind, or somebody may make the account again.
  txNoAccount: 'unfunded',
  txInternalError: 'busy',
};

const MAX_REASON = 500;

/** What a `sendTransaction` answer says that is no plain yes; undefined for a yes, or an answer about other bytes. */
export function sendRefusalIn(answer: Json, hash: string): OfferVerdict | undefined {
  if (!isObject(answer) || answer['hash'] !== hash) return undefined;
  const { status, errorResultXdr: text } = answer;
  if (status === 'TRY_AGAIN_LATER') {
    return { outcome: { kind: 'busy', reason: 'The node’s queue is full' }, hasJudged: true };
  }
  if (status !== 'ERROR') return undefined;
  const result = typeof text === 'string' ? parseTransactionResult(text) : undefined;
  // A node of a newer protocol may refuse with a result that cannot be read here.
  if (result === undefined)
    return { outcome: { kind: 'unknown', reason: 'refused without a result' }, hasJudged: true };
  return { outcome: { kind: KINDS[codesOf(result).code] ?? 'refused', reason: refusalOf(result) }, hasJudged: true };
}

/** The reason of a refusal, with the operation that the node refuses, or with the fee that it asks. */
function refusalOf(result: xdr.TransactionResult): string {
  const { code, operation } = codesOf(result);
  if (operation !== undefined) return `${named(code)} op=${named(operation)}`;
  return code === 'txInsufficientFee' ? `${named(code)}: ${result.feeCharged} stroops are required` : named(code);
}

/** Whether an answer to `sendTransaction` says that the node has these very bytes. */
export function isAcceptedSend(answer: Json, hash: string): boolean {
  if (!isObject(answer) || answer['hash'] !== hash) return false;
  return answer['status'] === 'PENDING' || answer['status'] === 'DUPLICATE';
}

/** What a call that failed means. */
export function classifyBroadcastError(error: RpcError): OfferVerdict {
  const reason = printable(error.message, MAX_REASON);
  // The endpoint limits calls and has not read the bytes. After any other failure it may have read them.
  if (error.kind === 'limited' || (error.kind === 'http' && error.status === 429)) {
    return { outcome: { kind: 'busy', reason }, hasJudged: false };
  }
  // Invalid parameters: it is no transaction for this node.
  if (error.kind === 'node' && error.code === -32_602) return { outcome: { kind: 'refused', reason }, hasJudged: true };
  return { outcome: { kind: 'unknown', reason }, hasJudged: false };
}

/** Reads a result; undefined for a text that cannot be read. */
export function parseTransactionResult(text: string): xdr.TransactionResult | undefined {
  try {
    return xdr.TransactionResult.fromXdr(text, 'base64');
  } catch {
    return undefined;
  }
}

/** Whether a result is a success; undefined where it cannot be read. */
export function isTransactionResultSuccess(text: string | undefined): boolean | undefined {
  const type = text === undefined ? undefined : parseTransactionResult(text)?.result.type;
  return type === undefined ? undefined : type === 'txSuccess' || type === 'txFeeBumpInnerSuccess';
}

type Result = xdr.TransactionResultResult | xdr.InnerTransactionResultResult;

/** The code of the transaction itself, and that of the first operation that failed. */
function codesOf({ result }: xdr.TransactionResult): { code: string; operation: string | undefined } {
  const own: Result = result.type === 'txFeeBumpInnerFailed' ? result.innerResultPair.result.result : result;
  if (own.type !== 'txFailed') return { code: own.type, operation: undefined };
  const codes = own.results.map((one) => (one.type === 'opInner' ? (one.tr.value as { type: string }).type : one.type));
  return { code: own.type, operation: codes.find((code) => !code.endsWith('Success')) };
}

/**
 * Why a transaction failed on the chain, in the reference's form. The reason is unknown where the result cannot be
 * read.
 */
export function failureReason(text: string | undefined, events: readonly string[] = []): string {
  const result = text === undefined ? undefined : parseTransactionResult(text);
  if (result === undefined) return `${FAILED} reason=unknown`;
  const { code, operation } = codesOf(result);
  const contractError = contractErrorIn(events);
  return [
    `${FAILED} reason=${named(code)}`,
    ...(operation === undefined ? [] : [`op=${named(operation.replace(OF_CONTRACTS, ''))}`]),
    ...(contractError === undefined ? [] : [contractError]),
  ].join(' ');
}

/** Operations of contracts: the reference shows their codes without this prefix. */
const OF_CONTRACTS = /^(?:invokeHostFunction|extendFootprintTtl|restoreFootprint)/;

const FAILED = 'Transaction failed on-chain.';

const named = (code: string): string => `${code.charAt(0).toUpperCase()}${code.slice(1)}`;

const MAX_MESSAGE = 200;

/**
 * The first error in a contract's diagnostic events, in the reference's form: `contract_error=Contract(10)
 * message="…"`. Events that cannot be read are skipped.
 */
export function contractErrorIn(events: readonly string[]): string | undefined {
  for (const text of events) {
    const values = valuesIn(text);
    const error = values.find((value) => value.type === 'scvError');
    if (error?.type !== 'scvError') continue;
    const message = values.map(textIn).find((one) => one !== undefined && one !== 'error');
    const shown = message === undefined ? '' : ` message=${JSON.stringify(printable(message, MAX_MESSAGE))}`;
    return `contract_error=${errorName(error.error)}${shown}`;
  }
  return undefined;
}

/** An event's topics and data, and the values directly inside the data. */
function valuesIn(text: string): xdr.ScVal[] {
  try {
    const { topics, data } = xdr.DiagnosticEvent.fromXdr(text, 'base64').event.body.v0;
    return [...topics, data, ...(data.type === 'scvVec' ? (data.vec ?? []) : [])];
  } catch {
    return [];
  }
}

function textIn(value: xdr.ScVal): string | undefined {
  if (value.type === 'scvString') return value.str.toString();
  return value.type === 'scvSymbol' ? value.sym.toString() : undefined;
}

function errorName(error: xdr.ScError): string {
  if (error.type === 'sceContract') return `Contract(${error.contractCode})`;
  return `${error.type.slice('sce'.length)}(${error.code.name.slice('scec'.length)})`;
}
