import { policyFault, type SolanaPolicy, type SolanaSubjects } from '../configuration/policy.ts';
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

export interface PolicyGuardOptions {
  /** {@link feePayerLoss}. */
  paysRent: boolean;
  /** {@link spendsOwnFunds}: the account may lose more than the fee, but not itself. */
  spends?: boolean;
}

/** Why the policies forbid something; undefined when they allow it. */
export function policyFaultText(policy: SolanaPolicy, subjects: Partial<SolanaSubjects>): string | undefined {
  return violationText(policyFault(policy, subjects)?.reason);
}

function violationText(fault: string | undefined): string | undefined {
  return fault && `Policy violation: ${fault}`;
}

/**
 * Why a transaction is forbidden: by a relayer's policies, or by the rules that keep its account safe. Undefined when
 * it is allowed. In the reference's order and words.
 */
export function policyViolation(
  guarded: GuardedTransaction,
  relayer: string,
  policy: SolanaPolicy,
  { paysRent, spends = false }: PolicyGuardOptions,
): string | undefined {
  const { message, size, lookedUp } = guarded;
  return violationText(
    policyFault(policy, subjectsOf(guarded))?.reason ??
      payerFault(message, relayer) ??
      policyFault(policy, { size })?.reason ??
      (spends ? accountLoss(message, relayer) : feePayerLoss(message, { paysRent, lookedUp })),
  );
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
  const fault = policyFault(policy, { ...subjectsOf(guarded), size });
  return violationText(fault?.reason ?? accountLoss(message, relayer));
}

function subjectsOf({ message, lookedUp = [], called = [] }: GuardedTransaction): Partial<SolanaSubjects> {
  return {
    accounts: [...message.keys, ...lookedUp],
    programs: [...programsOf(message), ...called],
    signatures: message.signers,
  };
}

/** What a relayer may lose beyond the fee: rent for accounts that it makes, where users pay it back. */
export function guardOptionsOf({ feePaymentStrategy }: Pick<SolanaPolicy, 'feePaymentStrategy'>): PolicyGuardOptions {
  return { paysRent: feePaymentStrategy === 'user' };
}

/**
 * What a relayer may lose by a transaction that a client made.
 * @param maySpend whether the client may send through the relayer
 */
export function clientGuardOptions(
  message: CompiledMessage,
  policy: SolanaPolicy,
  maySpend: boolean,
): PolicyGuardOptions {
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
export function maySpendOwnFunds({
  feePaymentStrategy,
  ownFunds,
}: Pick<SolanaPolicy, 'feePaymentStrategy' | 'ownFunds'>): boolean {
  return feePaymentStrategy === 'relayer' && ownFunds === 'allow';
}

/** The program of each instruction. */
export function programsOf({ keys, instructions }: CompiledMessage): string[] {
  return instructions.map(({ program }) => keys[program] ?? '');
}

function payerFault({ keys: [payer] }: CompiledMessage, relayer: string) {
  return payer === relayer ? undefined : `Fee payer ${payer} does not match relayer address ${relayer}`;
}
