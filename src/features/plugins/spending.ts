import type { Chain } from '../../chains/chain.ts';
import { AppError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import type { Store, StoreWriter } from '../../store/store.ts';
import {
  type BudgetShortage,
  findCaveatBreach,
  HOUR_MS,
  hasBudget,
  type SpendingPlugin,
  type SpendingReservation,
} from './records/spending.ts';

/** The most settled rows that one commit folds while a budget seems to be spent. */
const FOLDED_AT_ONCE = 500;

/** A transaction that is about to be accepted for a plugin under limits. */
export interface SpendingRequest {
  chain: Chain;
  relayerId: string;
  transactionId: string;
  request: JsonObject;
}

/** Enforces the limits of plugins' grants on what they send. */
export interface SpendingGuard {
  /**
   * Runs a write that accepts a transaction. The write calls `reserve` first. Writes for one budget run one at a time,
   * so that only different instances can collide.
   * @throws AppError `GRANT_EXCEEDED`, `BUDGET_SPENT`; then nothing is written
   */
  within<T>(
    spender: SpendingPlugin | undefined,
    asked: SpendingRequest,
    write: (reserve: ReserveSpending) => Promise<T>,
  ): Promise<T>;
}

/** Reserves spending in the writer's commit. Does nothing without a budget. */
export type ReserveSpending = (writer: StoreWriter) => Promise<void>;

const NOTHING: ReserveSpending = async () => {};

/** @param store the store that holds the budgets */
export function createSpendingGuard(store: Pick<Store, 'read' | 'write' | 'now'>): SpendingGuard {
  const lines = new Map<string, Promise<unknown>>();

  /** Runs jobs with the same key one after the other. A failed job does not stop those behind it. */
  function inLine<T>(key: string, run: () => Promise<T>): Promise<T> {
    const before = lines.get(key) ?? Promise.resolve();
    const mine = before.then(run, run);
    lines.set(key, mine);
    const leave = () => {
      if (lines.get(key) === mine) lines.delete(key);
    };
    mine.then(leave, leave);
    return mine;
  }

  async function reserved<T>(
    { chain }: SpendingRequest,
    reservation: SpendingReservation,
    write: (reserve: ReserveSpending) => Promise<T>,
  ): Promise<T> {
    const { pluginId, relayerId } = reservation;
    for (;;) {
      try {
        return await write(async (writer) => {
          const shortage = await writer.reserveSpending(reservation);
          if (shortage !== undefined) throw new BudgetShort(shortage);
        });
      } catch (error) {
        if (!(error instanceof BudgetShort)) throw error;
        // First gives back the spending of transactions that have ended, a part in each commit. Refuses only when none
        // is left.
        if ((await store.write((writer) => writer.foldSpending(pluginId, relayerId, FOLDED_AT_ONCE))) > 0) continue;
        throw await refusalOf(error.shortage, reservation, chain.unit);
      }
    }
  }

  async function refusalOf(shortage: BudgetShortage, budget: SpendingReservation, unit: string): Promise<AppError> {
    const { rule, asked, limit, remaining } = shortage;
    const part = rule === 'value_per_hour' ? 'value' : 'fee';
    const freeAt = asked > limit ? null : await store.read.freeFrom(budget, part, asked - remaining);
    const details = {
      plugin: budget.pluginId,
      relayer: budget.relayerId,
      rule,
      unit,
      asked: asked.toString(),
      limit: limit.toString(),
      remaining: remaining.toString(),
      free_from: freeFrom(asked > limit, freeAt),
    };
    if (freeAt === null) return new AppError('BUDGET_SPENT', details);
    const left = Math.min(Math.max(freeAt - (await store.now()), 0), HOUR_MS);
    return new AppError('BUDGET_SPENT', details, { retryAfterSeconds: Math.ceil(left / 1000) });
  }

  return {
    async within(spender, asked, write) {
      if (spender === undefined) return await write(NOTHING);
      const reservation = reservationOf(spender, asked);
      if (reservation === undefined) return await write(NOTHING);
      const key = `${reservation.relayerId}/${reservation.pluginId}`;
      return await inLine(key, () => reserved(asked, reservation, write));
    },
  };
}

/**
 * Checks a request against the limits that do not depend on other requests.
 * @returns the request's reservation in its budget; undefined without a budget
 * @throws AppError `GRANT_EXCEEDED`
 */
function reservationOf({ pluginId, caveats }: SpendingPlugin, asked: SpendingRequest): SpendingReservation | undefined {
  const { chain, relayerId, transactionId, request } = asked;
  const { spending } = chain;
  if (spending === undefined) {
    throw new AppError('NOT_AVAILABLE_YET', { what: 'Limiting what plugins send', networkType: chain.type });
  }
  const spend = spending.spendOf(request);
  const breach = findCaveatBreach(spend, caveats, spending);
  if (breach !== undefined) throw new AppError('GRANT_EXCEEDED', { plugin: pluginId, relayer: relayerId, ...breach });
  if (!hasBudget(caveats)) return undefined;
  const { valuePerHour = null, feePerHour = null } = caveats;
  const { value, fee } = spend;
  return { transactionId, pluginId, relayerId, value, fee, valueLimit: valuePerHour, feeLimit: feePerHour };
}

function freeFrom(isMoreThanAll: boolean, at: number | null): string {
  if (isMoreThanAll) return 'no time on, because it is more than the whole limit';
  return at === null ? 'an hour after what is under way has ended' : new Date(at).toISOString();
}

/** Rolls back the commit that would have overdrawn a budget. */
class BudgetShort extends Error {
  readonly shortage: BudgetShortage;

  constructor(shortage: BudgetShortage) {
    super(`${shortage.rule} is spent`);
    this.shortage = shortage;
  }
}
