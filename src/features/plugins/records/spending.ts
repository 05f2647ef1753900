import type { JsonObject } from '../../../domain/json/json.ts';
import { amountColumn, defineRecord, nullableColumn, textColumn, timestampColumn } from '../../../domain/record.ts';

/** The window of hourly limits, in milliseconds. */
export const HOUR_MS = 3_600_000;

/**
 * The limits on a plugin's spending through one relayer; amounts in the smallest unit. An absent field does not limit.
 */
export interface SpendingCaveats {
  /** As the operator wrote them; the relayer's chain reads them. */
  readonly recipients?: readonly string[] | undefined;
  readonly selectors?: readonly string[] | undefined;
  readonly valuePerCall?: bigint | undefined;
  readonly valuePerHour?: bigint | undefined;
  readonly feePerHour?: bigint | undefined;
}

/** A plugin that asks for a transaction, and the limits that it has. */
export interface SpendingPlugin {
  readonly pluginId: string;
  readonly caveats: SpendingCaveats;
}

/** What a checked request moves, and where to. */
export interface RequestedSpend {
  /** The recipient in the only form that the chain compares; null when the request has none. */
  readonly recipient: string | null;
  /** The called function in the only form that the chain compares; null when there is no recipient. */
  readonly selector: string | null;
  readonly value: bigint;
  /** The most that its fee can be; null where only the network can tell. */
  readonly fee: bigint | null;
  /** A part of the request that acts on others than the recipient; null when there is none. */
  readonly beyond: string | null;
  /** What else the request can take from the account, which no limit counts. Absent: nothing. */
  readonly uncounted?: string;
  /**
   * The method with which the recipient moves the account's tokens, or lets others move them: `transfer(address,uint256)`.
   * Limits of value do not count it, so the recipient has to be named. Absent: no method that is known.
   */
  readonly tokenMethod?: string;
}

/** What a transaction that has ended took from its account. */
export interface ActualSpend {
  readonly value: bigint;
  readonly fee: bigint;
}

/** How operators name something in a list of caveats. */
export interface CaveatForm {
  /** Returns the form in which names are compared; undefined when the text names nothing. */
  read(text: string): string | undefined;
  /** Describes a valid name, for the message about an invalid one: `an address`. */
  expected: string;
}

/** How a chain family tells what is spent. */
export interface SpendingForms {
  /** Tells what a request spends, as {@link import('../../transactions/records/transaction.ts').Transaction.request} has it. */
  spendOf(request: JsonObject): RequestedSpend;
  recipient: CaveatForm;
  selector: CaveatForm;
  /** Says what a request without a recipient does: `the creation of a contract`. */
  withoutRecipient: string;
}

/** What counts against a plugin's budget of a relayer: the sums of the amounts that the rows of `spending` count. */
export const budgetRecord = defineRecord(
  'budgets',
  {
    pluginId: textColumn,
    relayerId: textColumn,
    value: amountColumn,
    fee: amountColumn,
    /** The fee limit of the plugin's last request; null for no limit. */
    feeLimit: nullableColumn(amountColumn),
  },
  { key: ['pluginId', 'relayerId'] },
);

/** What one transaction counts. */
export const spendingRecord = defineRecord(
  'spending',
  {
    transactionId: textColumn,
    pluginId: textColumn,
    relayerId: textColumn,
    /** The amounts that the budget's sums contain for this transaction. */
    value: amountColumn,
    fee: amountColumn,
    /** The amounts that the transaction took, until they are in the budget's sums. */
    spentValue: nullableColumn(amountColumn),
    spentFee: nullableColumn(amountColumn),
    /** When the transaction became final. It counts for an hour after that. */
    settledAt: nullableColumn(timestampColumn),
  },
  { key: ['transactionId'] },
);

export type BudgetRule = 'value_per_hour' | 'fee_per_hour';

/** What a transaction counts against a plugin's budget of a relayer. */
export interface SpendingReservation {
  readonly transactionId: string;
  readonly pluginId: string;
  readonly relayerId: string;
  readonly value: bigint;
  /** Null while only the network could tell the fee. The fee is then reserved before the transaction is signed. */
  readonly fee: bigint | null;
  readonly valueLimit: bigint | null;
  readonly feeLimit: bigint | null;
}

/** What a budget lacks for what was asked. */
export interface BudgetShortage {
  readonly rule: BudgetRule;
  readonly asked: bigint;
  readonly limit: bigint;
  readonly remaining: bigint;
}

/** The caveat that a request breaks by itself, whatever was spent before. */
export interface CaveatBreach {
  readonly rule: 'recipients' | 'selectors' | 'value_per_call' | BudgetRule;
  readonly asked: string;
  readonly limit: string;
}

/** The first caveat that a request breaks by itself; undefined when it keeps within all of them. */
export function findCaveatBreach(
  spend: RequestedSpend,
  caveats: SpendingCaveats,
  forms: SpendingForms,
): CaveatBreach | undefined {
  const { recipients, selectors, valuePerCall } = caveats;
  const lists = [
    { rule: 'recipients', allowed: recipients, form: forms.recipient, asked: spend.recipient },
    { rule: 'selectors', allowed: selectors, form: forms.selector, asked: spend.selector },
  ] as const;
  for (const { rule, allowed, form, asked } of lists) {
    if (allowed === undefined) continue;
    const limit = shownList(allowed);
    if (asked === null) return { rule, asked: forms.withoutRecipient, limit };
    if (!allowed.some((text) => form.read(text) === asked)) return { rule, asked, limit };
    if (spend.beyond !== null) return { rule, asked: spend.beyond, limit };
  }
  const limitsValue = valuePerCall !== undefined || caveats.valuePerHour !== undefined;
  if (spend.tokenMethod !== undefined && recipients === undefined && limitsValue) {
    const asked = `${spend.tokenMethod} of ${spend.recipient}`;
    return {
      rule: 'recipients',
      asked,
      limit: 'token methods only of named contracts, as limits of value do not count tokens',
    };
  }
  if (spend.uncounted !== undefined) {
    return { rule: firstRule(caveats), asked: spend.uncounted, limit: 'only what is counted in the chain’s own coin' };
  }
  if (valuePerCall === undefined || spend.value <= valuePerCall) return undefined;
  return { rule: 'value_per_call', asked: spend.value.toString(), limit: valuePerCall.toString() };
}

/** The limit to name where any of them is broken. */
function firstRule({ valuePerHour, valuePerCall, feePerHour, recipients }: SpendingCaveats): CaveatBreach['rule'] {
  if (valuePerHour !== undefined) return 'value_per_hour';
  if (valuePerCall !== undefined) return 'value_per_call';
  if (feePerHour !== undefined) return 'fee_per_hour';
  return recipients !== undefined ? 'recipients' : 'selectors';
}

/** Whether the caveats set a budget by the hour. */
export function hasBudget({ valuePerHour, feePerHour }: SpendingCaveats): boolean {
  return valuePerHour !== undefined || feePerHour !== undefined;
}

/**
 * What a budget lacks for a further amount; undefined when it lacks nothing. With `asked` null: whether anything is
 * left.
 */
export function findBudgetShortage(
  rule: BudgetRule,
  limit: bigint | null,
  counted: bigint,
  asked: bigint | null,
): BudgetShortage | undefined {
  const least = asked ?? 1n;
  if (limit === null || least === 0n || counted + least <= limit) return undefined;
  return { rule, asked: least, limit, remaining: counted < limit ? limit - counted : 0n };
}

/** Names in a message: all of a short list, the first of a long one. */
function shownList(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}
