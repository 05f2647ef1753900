import { SignerKey, xdr } from '@stellar/stellar-sdk';
import {
  ACCOUNT_FLAGS,
  type AccountEntry,
  type DataEntry,
  LINE_FLAGS,
  NATIVE,
  type TrustLineEntry,
} from '../ledger/entry.ts';
import { keyOf } from '../ledger/entry-key.ts';
import type { Reader } from '../ledger/state.ts';
import type { View } from '../rpc/view.ts';
import { amountOf, timeOf } from './amount.ts';
import { assetFields } from './params.ts';

/** An account, with its balances, signers and data. */
export function accountResource(base: string, view: View, account: AccountEntry) {
  const { state } = view.node;
  const { id, thresholds, flags } = account;
  const modified = state.get(keyOf(account))?.modified ?? 0;
  const ledger = view.ledgerAt(modified);
  return {
    _links: links(base, id),
    id,
    account_id: id,
    sequence: String(account.sequence),
    ...(account.sequenceLedger === 0
      ? {}
      : { sequence_ledger: account.sequenceLedger, sequence_time: String(account.sequenceTime) }),
    subentry_count: account.subEntries,
    ...(account.inflationDestination === null ? {} : { inflation_destination: account.inflationDestination }),
    ...(account.homeDomain === '' ? {} : { home_domain: account.homeDomain }),
    last_modified_ledger: modified,
    last_modified_time: ledger === undefined ? null : timeOf(ledger.closeTime),
    thresholds: {
      low_threshold: thresholds.low,
      med_threshold: thresholds.medium,
      high_threshold: thresholds.high,
    },
    flags: {
      auth_required: (flags & ACCOUNT_FLAGS.required) !== 0,
      auth_revocable: (flags & ACCOUNT_FLAGS.revocable) !== 0,
      auth_immutable: (flags & ACCOUNT_FLAGS.immutable) !== 0,
      auth_clawback_enabled: (flags & ACCOUNT_FLAGS.clawback) !== 0,
    },
    balances: [...trustLinesOf(state, id).map((line) => lineBalance(state, line)), nativeBalance(account)],
    signers: signersOf(account),
    data: dataOf(state, id),
    num_sponsoring: 0,
    num_sponsored: 0,
    paging_token: id,
  };
}

function links(base: string, id: string) {
  const self = `${base}/accounts/${id}`;
  const paged = (of: string) => ({ href: `${self}/${of}{?cursor,limit,order}`, templated: true });
  return {
    self: { href: self },
    ...Object.fromEntries(
      ['transactions', 'operations', 'payments', 'effects', 'offers', 'trades'].map((of) => [of, paged(of)]),
    ),
    data: { href: `${self}/data/{key}`, templated: true },
  };
}

/** Sorted by code and issuer, as in Horizon. */
export function trustLinesOf(state: Reader, account: string): TrustLineEntry[] {
  const lines = [...state.all('trust-line')].filter((line) => line.account === account);
  return lines.sort((one, other) => (one.asset < other.asset ? -1 : 1));
}

function lineBalance(state: Reader, line: TrustLineEntry) {
  const isAuthorized = (line.flags & LINE_FLAGS.authorized) !== 0;
  return {
    balance: amountOf(line.balance),
    limit: amountOf(line.limit),
    buying_liabilities: amountOf(line.liabilities.buying),
    selling_liabilities: amountOf(line.liabilities.selling),
    last_modified_ledger: state.get(keyOf(line))?.modified ?? 0,
    is_authorized: isAuthorized,
    is_authorized_to_maintain_liabilities: isAuthorized || (line.flags & LINE_FLAGS.maintains) !== 0,
    ...((line.flags & LINE_FLAGS.clawback) === 0 ? {} : { is_clawback_enabled: true }),
    ...assetFields(line.asset),
  };
}

const nativeBalance = ({ balance, liabilities }: AccountEntry) => ({
  balance: amountOf(balance),
  buying_liabilities: amountOf(liabilities.buying),
  selling_liabilities: amountOf(liabilities.selling),
  ...assetFields(NATIVE),
});

const SIGNER_TYPES: Readonly<Record<string, string>> = {
  G: 'ed25519_public_key',
  X: 'sha256_hash',
  T: 'preauth_tx',
  P: 'ed25519_signed_payload',
};

/** Sorted by key. The account's own key comes last if its weight is zero. */
function signersOf({ id, signers, thresholds }: AccountEntry) {
  const others = signers.map(({ key, weight }) => ({
    weight,
    key: SignerKey.encodeSignerKey(xdr.SignerKey.fromXdr(key, 'base64')),
  }));
  const own = { weight: thresholds.master, key: id };
  const sorted = (own.weight === 0 ? others : [...others, own]).sort((one, other) => (one.key < other.key ? -1 : 1));
  const all = own.weight === 0 ? [...sorted, own] : sorted;
  return all.map((signer) => ({ ...signer, type: SIGNER_TYPES[signer.key.charAt(0)] }));
}

function dataOf(state: Reader, account: string): Record<string, string> {
  const isOwn = (entry: DataEntry) => entry.account === account;
  const entries = [...state.all('data')].filter(isOwn).map(({ name, value }) => [name, value] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
