import { isObject, type Json } from '../../domain/json/json.ts';
import { printable } from '../../domain/printable.ts';
import type { RpcError } from '../../egress/rpc/rpc-client.ts';
import type { OfferVerdict } from '../broadcasting.ts';
import type { BroadcastOutcome } from '../chain-client.ts';
import type { ProgramError } from './schema.ts';

/** Why a transaction failed, as nodes write it: a name, or a name with its details (`solana-transaction-error`). */
export type TransactionError = Json;

const MAX_REASON = 500;

/** The name of an error, without its details. */
export function transactionErrorName(error: TransactionError): string {
  if (typeof error === 'string') return error;
  return isObject(error) ? (Object.keys(error)[0] ?? 'unknown error') : JSON.stringify(error);
}

/** What the runtime's errors mean, where their names do not say it. */
const TEXTS: Readonly<Record<string, string>> = {
  AccountNotFound: 'the fee payer has no lamports',
  AlreadyProcessed: 'it has been executed before',
  BlockhashNotFound: 'its blockhash is not known, or too old',
  InsufficientFundsForFee: 'the fee payer cannot pay the fee',
  InsufficientFundsForRent: 'an account would be left with less than it must have (rent)',
  InvalidAccountForFee: 'the fee payer is not an account that can pay fees',
  InvalidProgramForExecution: 'a program that it calls is none',
  MaxLoadedAccountsDataSizeExceeded: 'its accounts hold more data than it may load',
  ProgramAccountNotFound: 'a program that it calls does not exist',
  SignatureFailure: 'a signature is wrong',
};

/**
 * How Anchor logs an error (anchor-lang, error.rs). Codes below 6000 are Anchor's own, and every Anchor program has
 * them. A program's own codes start at 6000.
 */
const ANCHOR_ERROR =
  /^Program log: AnchorError .*Error Code: (?<name>\w+)\. Error Number: (?<code>\d+)\. Error Message: (?<text>.*)$/;

/** What helps to say why a transaction failed. */
export interface TransactionErrorContext {
  logs: readonly string[];
  /** The program of each instruction. */
  programs: readonly string[];
  /** The errors that the request's IDL lists. */
  errors: readonly ProgramError[];
}

const NO_CONTEXT: TransactionErrorContext = { logs: [], programs: [], errors: [] };

/** A transaction's error in words: the instruction, its program, and the name of the error. */
export function transactionErrorText(error: TransactionError, context: TransactionErrorContext = NO_CONTEXT): string {
  const name = transactionErrorName(error);
  const detail = isObject(error) ? error[name] : undefined;
  if (name === 'InstructionError' && Array.isArray(detail)) {
    return printable(instructionReason(Number(detail[0]), detail[1] as Json, context), MAX_REASON);
  }
  const detailText = isObject(detail) ? ` (${JSON.stringify(detail)})` : '';
  const text = TEXTS[name];
  return printable(`${name}${detailText}${text === undefined ? '' : `: ${text}`}`, MAX_REASON);
}

function instructionReason(index: number, error: Json, context: TransactionErrorContext): string {
  const program = context.programs[index];
  const where = `Instruction ${index + 1}${program === undefined ? '' : ` (program ${program})`} failed`;
  const code = isObject(error) ? error['Custom'] : undefined;
  if (typeof code !== 'number') return `${where}: ${transactionErrorName(error)}${lastWords(context.logs)}`;
  return `${where}: ${customReason(code, context)}`;
}

/** Names a program's own error: from the request's IDL, else from Anchor's log, else by its number. */
function customReason(code: number, { errors, logs }: TransactionErrorContext): string {
  const hex = `0x${code.toString(16)}`;
  const known = errors.find((one) => one.code === code);
  if (known !== undefined) return `${known.name} (${code})${known.msg === undefined ? '' : `: ${known.msg}`}`;
  const anchor = logs.map((line) => ANCHOR_ERROR.exec(line)?.groups).findLast((groups) => groups !== undefined);
  if (anchor?.['code'] === String(code)) return `${anchor['name']} (${code}): ${anchor['text']}`;
  return `custom program error ${hex} (${code})${lastWords(logs)}`;
}

/** The program's last log line, which most often tells why it failed. */
function lastWords(logs: readonly string[]): string {
  const line = logs.findLast((one) => one.startsWith('Program log: ') && !one.startsWith('Program log: Instruction:'));
  return line === undefined ? '' : `, log: ${line.slice('Program log: '.length)}`;
}

type Meaning = Exclude<BroadcastOutcome['kind'], 'accepted'>;

/** Errors that say nothing about the bytes: the node, or the chain at this moment, cannot execute them. */
const PASSING: ReadonlySet<string> = new Set([
  ...['AccountInUse', 'ClusterMaintenance', 'CommitCancelled', 'ProgramCacheHitMaxLimit'],
  ...['ProgramExecutionTemporarilyRestricted', 'ResanitizationNeeded', 'WouldExceedAccountDataBlockLimit'],
  ...['WouldExceedMaxAccountCostLimit', 'WouldExceedMaxBlockCostLimit', 'WouldExceedMaxVoteCostLimit'],
]);

/** Whether an error of a trial is over soon, whatever the transaction is. */
export function isTransientError(error: TransactionError): boolean {
  return PASSING.has(transactionErrorName(error));
}

/** Errors by which the chain lacks an account or a program, or by which the node does not know it yet. */
const ABSENCES: ReadonlySet<string> = new Set([
  ...['AddressLookupTableNotFound', 'InvalidAddressLookupTableIndex', 'InvalidProgramForExecution'],
  'ProgramAccountNotFound',
]);

/** Whether an error of a trial may only show that the node is behind. */
export function isNodeBehindError(error: TransactionError): boolean {
  return ABSENCES.has(transactionErrorName(error));
}

/**
 * What some preflight errors mean. Every other preflight error means that the chain, as it is now, cannot execute the
 * bytes.
 */
const PREFLIGHT: ReadonlyMap<string, Meaning> = new Map([
  ['BlockhashNotFound', 'lapsed'],
  ...[...PASSING].map((name): [string, Meaning] => [name, 'busy']),
]);

/** Whether the fee payer has too little: for the fee, or for the minimum that every account must keep. */
export function isPayerUnderfunded(error: TransactionError): boolean {
  const name = transactionErrorName(error);
  const detail = isObject(error) ? error[name] : undefined;
  if (name === 'InsufficientFundsForRent') return isObject(detail) && detail['account_index'] === 0;
  return name === 'InsufficientFundsForFee' || name === 'AccountNotFound';
}

/**
 * Codes of a node that cannot serve the call now: it is behind, has not reached the requested slot, has no time, or
 * lacks the method (agave, rpc-client-api/src/custom_error.rs).
 */
const AWAY = new Set([-32_005, -32_016, 429, -32_601]);
const PREFLIGHT_FAILED = -32_002;
/** Codes for bytes that are refused: they do not decode, a signature is wrong, or their form is not supported. */
const REFUSED = new Set([-32_602, -32_003, -32_006, -32_013, -32_015]);

/** What a failed `sendTransaction` means. An unknown error proves nothing: the node may have the bytes. */
export function classifyBroadcastError(error: RpcError): OfferVerdict {
  const { kind, status, code } = error;
  if (kind === 'limited' || (kind === 'http' && status === 429)) return silence('busy', error);
  if (kind !== 'node' || code === undefined) return silence('unknown', error);
  if (code === PREFLIGHT_FAILED) return preflightFailure(error);
  if (REFUSED.has(code)) {
    return { outcome: { kind: 'refused', reason: printable(error.message, MAX_REASON) }, hasJudged: true };
  }
  return silence(AWAY.has(code) ? 'busy' : 'unknown', error);
}

function silence(kind: 'busy' | 'unknown', { message }: RpcError): OfferVerdict {
  return { outcome: { kind, reason: printable(message, MAX_REASON) }, hasJudged: false };
}

function preflightFailure(error: RpcError): OfferVerdict {
  const { err, logs } = isObject(error.data) ? error.data : {};
  const failure = err ?? errorIn(error.message);
  // Some gateways leave out the reason. Such an error says nothing about the bytes.
  if (failure === undefined) return silence('unknown', error);
  const name = transactionErrorName(failure);
  if (name === 'AlreadyProcessed') return { outcome: { kind: 'accepted' }, hasJudged: true };
  const lines = Array.isArray(logs) ? logs.filter((line) => typeof line === 'string') : [];
  const kind = isPayerUnderfunded(failure) ? 'unfunded' : (PREFLIGHT.get(name) ?? 'refused');
  return { outcome: { kind, reason: transactionErrorText(failure, { ...NO_CONTEXT, logs: lines }) }, hasJudged: true };
}

/** The error that a text quotes (`solana-transaction-error`). Only the two errors that change the outcome are read. */
function errorIn(text: string): TransactionError | undefined {
  if (/already been processed/i.test(text)) return 'AlreadyProcessed';
  return /blockhash not found/i.test(text) ? 'BlockhashNotFound' : undefined;
}
