import { addBalance, availableBalance, roomOf } from './account.ts';
import { issuerOf } from './asset.ts';
import {
  type AccountEntry,
  type AccountId,
  type AssetName,
  type Header,
  LINE_FLAGS,
  type Liabilities,
  MAX_INT64,
  NATIVE,
  type TrustLineEntry,
} from './entry.ts';
import { keys } from './entry-key.ts';
import { accountIn, type Reader, type State } from './state.ts';

/** How an account holds an asset: as its own balance, through a trust line, or without limit as the issuer. */
export interface Holding {
  readonly balance: bigint;
  /** The amount that may leave. Negative if the balance is below the reserve. */
  readonly available: bigint;
  /** The amount that may still come in. */
  readonly room: bigint;
  readonly isAuthorized: boolean;
  /** Whether the account's existing offers may stay. */
  readonly maintains: boolean;
  /** Returns false if the balance would leave its limits. Then nothing has changed. */
  add(state: State, delta: bigint): boolean;
  /** Adds to the liabilities. */
  promise(state: State, change: Liabilities): void;
}

/** Undefined if the account has no trust line, or for the native asset does not exist. */
export function holdingOf(state: Reader, header: Header, account: AccountId, asset: AssetName): Holding | undefined {
  if (asset === NATIVE) {
    const entry = accountIn(state, account);
    return entry && nativeHolding(header, entry);
  }
  if (issuerOf(asset) === account) return ISSUER;
  const line = trustLineIn(state, account, asset);
  return line && lineHolding(line);
}

export function trustLineIn(state: Reader, account: AccountId, asset: AssetName): TrustLineEntry | undefined {
  return state.get(keys.trustLine(account, asset))?.entry as TrustLineEntry | undefined;
}

function nativeHolding(header: Header, entry: AccountEntry): Holding {
  return {
    balance: entry.balance,
    available: availableBalance(header, entry),
    room: roomOf(entry),
    isAuthorized: true,
    maintains: true,
    add: (state, delta) => addBalance(state, header, entry.id, delta),
    promise(state, change) {
      const now = accountIn(state, entry.id);
      if (now === undefined) throw new Error(`There is no account ${entry.id}.`);
      state.put({ ...now, liabilities: sum(now.liabilities, change) });
    },
  };
}

function lineHolding(line: TrustLineEntry): Holding {
  const isAuthorized = (line.flags & LINE_FLAGS.authorized) !== 0;
  return {
    balance: line.balance,
    available: line.balance - line.liabilities.selling,
    room: isAuthorized ? line.limit - line.balance - line.liabilities.buying : 0n,
    isAuthorized,
    maintains: (line.flags & (LINE_FLAGS.authorized | LINE_FLAGS.maintains)) !== 0,
    add(state, delta) {
      const now = trustLineIn(state, line.account, line.asset);
      if (now === undefined) throw new Error(`${line.account} has no trust line for ${line.asset}.`);
      if (delta === 0n) return true;
      if (!isAuthorized) return false;
      const balance = now.balance + delta;
      if (balance < now.liabilities.selling || balance > now.limit - now.liabilities.buying) return false;
      state.put({ ...now, balance });
      return true;
    },
    promise(state, change) {
      const now = trustLineIn(state, line.account, line.asset);
      if (now === undefined) throw new Error(`${line.account} has no trust line for ${line.asset}.`);
      state.put({ ...now, liabilities: sum(now.liabilities, change) });
    },
  };
}

const ISSUER: Holding = {
  balance: MAX_INT64,
  available: MAX_INT64,
  room: MAX_INT64,
  isAuthorized: true,
  maintains: true,
  add: () => true,
  promise: () => undefined,
};

const sum = (one: Liabilities, other: Liabilities): Liabilities => ({
  buying: one.buying + other.buying,
  selling: one.selling + other.selling,
});
