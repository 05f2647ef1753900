import type { SolanaPolicy } from '../configuration/policy.ts';
import type { CompiledMessage } from '../message/compiled-message.ts';
import { accountLoss, feePayerLoss } from './fee-payer.ts';

/** A transaction as policies look at it. */
export interface GuardedTransaction {
  message: CompiledMessage;
  /** In bytes, with its signatures. */
  size: number;
  /** The accounts that its lookup tables name; absent before the tables are read. */
  lookedUp?: readonly string[];
  /** The programs that the trial called; absent before the trial. */
  called?: readonly string[];
}

export interface GuardOptions {
  /** {@link feePayerLoss}. */
  paysRent: boolean;
  /** {@link spendsOwnFunds}: the account may lose more than the fee, but not itself. */
  spends?: boolean;
}

/**
 * Why a transaction is forbidden: by a relayer's policies, or by the rules that keep its account safe. Undefined when
 * it is allowed. In the reference's order and words.
 */
export function policyViolation(
  { message, size, lookedUp, called = [] }: GuardedTransaction,
  relayer: string,
  policy: SolanaPolicy,
  { paysRent, spends = false }: GuardOptions,
): string | undefined {
  const guarded = { message, size, called, ...(lookedUp === undefined ? {} : { lookedUp }) };
  const fault =
    listFault(guarded, policy) ??
    payerFault(message, relayer) ??
    sizeFault(size, policy) ??
    (spends ? accountLoss(message, relayer) : feePayerLoss(message, { paysRent, lookedUp }));
  return fault === undefined ? undefined : `Policy violation: ${fault}`;
}

/**
 * {@link policyViolation} for a transaction of another fee payer, which the relayer signs as one of several: it may
 * spend what the relayer holds.
 */
export function coSignerViolation(
  guarded: GuardedTransaction,
  relayer: string,
  policy: SolanaPolicy,
): string | undefined {
  const { message, size } = guarded;
  const fault = listFault(guarded, policy) ?? sizeFault(size, policy) ?? accountLoss(message, relayer);
  return fault === undefined ? undefined : `Policy violation: ${fault}`;
}

function listFault(
  { message, lookedUp = [], called = [] }: GuardedTransaction,
  policy: SolanaPolicy,
): string | undefined {
  return (
    accountFault([...message.keys, ...lookedUp], policy) ??
    programFault([...programsOf(message), ...called], policy) ??
    signatureFault(message, policy)
  );
}

/** What a relayer may lose beyond the fee: rent for accounts that it makes, where users pay it back. */
export function guardOptionsOf({ feePayer }: Pick<SolanaPolicy, 'feePayer'>): GuardOptions {
  return { paysRent: feePayer === 'user' };
}

/**
 * What a relayer may lose by a transaction that a client made.
 * @param maySpend whether the client may send through the relayer
 */
export function clientGuardOptions(message: CompiledMessage, policy: SolanaPolicy, maySpend: boolean): GuardOptions {
  return { ...guardOptionsOf(policy), spends: maySpend && spendsOwnFunds(message, policy) };
}

/**
 * Whether a transaction is the relayer's own, and may spend what its account holds: nobody else signs it, and nobody
 * pays for it. Where others sign as well, they may have made it.
 */
export function spendsOwnFunds({ signers }: CompiledMessage, policy: SolanaPolicy): boolean {
  return signers === 1 && maySpendOwnFunds(policy);
}

/** Whether the policies let anything spend what the account holds. */
export function maySpendOwnFunds({ feePayer, ownFunds }: Pick<SolanaPolicy, 'feePayer' | 'ownFunds'>): boolean {
  return feePayer === 'relayer' && ownFunds === 'allow';
}

/** The program of each instruction. */
export function programsOf({ keys, instructions }: CompiledMessage): string[] {
  return instructions.map(({ program }) => keys[program] ?? '');
}

/** Why the policies forbid one of these accounts; undefined when they allow all. */
export function accountFault(keys: readonly string[], { allowedAccounts, disallowedAccounts }: SolanaPolicy) {
  const strange = keys.find((key) => allowedAccounts !== null && !allowedAccounts.has(key));
  if (strange !== undefined) return `Account ${strange} not allowed`;
  const barred = keys.find((key) => disallowedAccounts.has(key));
  return barred === undefined ? undefined : `Account ${barred} is explicitly disallowed`;
}

function programFault(programs: readonly string[], { allowedPrograms }: SolanaPolicy) {
  const strange = programs.find((program) => allowedPrograms !== null && !allowedPrograms.has(program));
  return strange === undefined ? undefined : `Program ${strange} not allowed`;
}

function signatureFault({ signers }: CompiledMessage, { mostSignatures }: SolanaPolicy) {
  if (mostSignatures === null || signers <= mostSignatures) return undefined;
  return `Transaction requires ${signers} signatures, which exceeds maximum allowed ${mostSignatures}`;
}

function payerFault({ keys: [payer] }: CompiledMessage, relayer: string) {
  return payer === relayer ? undefined : `Fee payer ${payer} does not match relayer address ${relayer}`;
}

function sizeFault(size: number, { largestTransaction }: SolanaPolicy) {
  if (size <= largestTransaction) return undefined;
  return `Transaction size ${size} exceeds maximum allowed ${largestTransaction}`;
}
