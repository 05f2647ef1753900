import { xdr } from '@stellar/stellar-sdk';
import { reserve } from '../ledger/account.ts';
import { accountIdOf } from '../ledger/address.ts';
import type { AccountId, Entry } from '../ledger/entry.ts';
import { keyOfXdr } from '../ledger/entry-key.ts';
import { accountIn } from '../ledger/state.ts';
import { type Acting, type Operation, told } from './operation.ts';

const Revoked = xdr.RevokeSponsorshipResult;
const tellRevoked = (result: xdr.RevokeSponsorshipResult) => told(xdr.OperationResultTr.revokeSponsorship(result));
const tellBegun = (result: xdr.BeginSponsoringFutureReservesResult) =>
  told(xdr.OperationResultTr.beginSponsoringFutureReserves(result));
const tellEnded = (result: xdr.EndSponsoringFutureReservesResult) =>
  told(xdr.OperationResultTr.endSponsoringFutureReserves(result));

/** From here on the source keeps the reserves of what another account makes (CAP-33). */
export function beginSponsoring(op: xdr.BeginSponsoringFutureReservesOp): Operation {
  const sponsored = accountIdOf(op.sponsoredId);
  const Result = xdr.BeginSponsoringFutureReservesResult;
  return {
    threshold: 'medium',
    check: (source) => (sponsored === source ? tellBegun(Result.beginSponsoringFutureReservesMalformed()) : undefined),
    apply({ state: { sponsors }, source }) {
      if (sponsors.has(sponsored)) return tellBegun(Result.beginSponsoringFutureReservesAlreadySponsored());
      // Neither side may be in another sponsorship the other way round.
      const isRecursive = sponsors.has(source) || [...sponsors.values()].includes(sponsored);
      if (isRecursive) return tellBegun(Result.beginSponsoringFutureReservesRecursive());
      sponsors.set(sponsored, source);
      return tellBegun(Result.beginSponsoringFutureReservesSuccess());
    },
  };
}

export const END_SPONSORING: Operation = {
  threshold: 'medium',
  check: () => undefined,
  apply({ state: { sponsors }, source }) {
    const Result = xdr.EndSponsoringFutureReservesResult;
    return sponsors.delete(source)
      ? tellEnded(Result.endSponsoringFutureReservesSuccess())
      : tellEnded(Result.endSponsoringFutureReservesNotSponsored());
  },
};

/** What is sponsored: an entry of the ledger, or a signer of an account. */
interface Sponsored {
  /** Null for a claimable balance, which nobody owns. */
  owner: AccountId | null;
  sponsor: AccountId | undefined;
  /** How many base reserves it takes. */
  count: number;
  /** Records another sponsor. */
  under(sponsor: AccountId | undefined): void;
}

export function revokeSponsorship(op: xdr.RevokeSponsorshipOp): Operation {
  return {
    threshold: 'medium',
    check: () => undefined,
    apply(acting) {
      const { state, header, source } = acting;
      const found = op.type === 'revokeSponsorshipSigner' ? signerIn(acting, op.signer) : entryIn(acting, op.ledgerKey);
      if (found === undefined) return tellRevoked(Revoked.revokeSponsorshipDoesNotExist());
      const { owner, sponsor: before, count } = found;
      if ((before ?? owner) !== source) return tellRevoked(Revoked.revokeSponsorshipNotSponsor());
      const asked = state.sponsors.get(source);
      const after = asked === owner ? undefined : asked;
      if (owner === null && after === undefined) return tellRevoked(Revoked.revokeSponsorshipOnlyTransferable());
      if (before === after) return tellRevoked(Revoked.revokeSponsorshipSuccess());
      const took = reserve(state, header, { owner, sponsor: after, count, kind: 'moved' });
      if (!took) return tellRevoked(Revoked.revokeSponsorshipLowReserve());
      if (before !== undefined) reserve(state, header, { owner, sponsor: before, count: -count, kind: 'moved' });
      found.under(after);
      return tellRevoked(Revoked.revokeSponsorshipSuccess());
    },
  };
}

function entryIn({ state }: Acting, key: xdr.LedgerKey): Sponsored | undefined {
  const entry = state.get(keyOfXdr(key) ?? '')?.entry;
  if (entry === undefined || !isSponsorable(entry)) return undefined;
  return {
    owner: ownerOf(entry),
    sponsor: entry.sponsor,
    count: reservesOf(entry),
    under: (sponsor) => {
      const now = state.get(keyOfXdr(key) ?? '')?.entry ?? entry;
      const { sponsor: _, ...bare } = now as Entry & { sponsor?: AccountId };
      state.put({ ...bare, ...(sponsor === undefined ? {} : { sponsor }) } as Entry);
    },
  };
}

function signerIn({ state }: Acting, { accountId, signerKey }: xdr.RevokeSponsorshipOpSigner): Sponsored | undefined {
  const owner = accountIdOf(accountId);
  const key = signerKey.toXdr('base64');
  const signer = accountIn(state, owner)?.signers.find((one) => one.key === key);
  if (signer === undefined) return undefined;
  return {
    owner,
    sponsor: signer.sponsor,
    count: 1,
    under: (sponsor) => {
      const account = accountIn(state, owner);
      if (account === undefined) return;
      const { weight } = signer;
      const changed = { key, weight, ...(sponsor === undefined ? {} : { sponsor }) };
      state.put({ ...account, signers: account.signers.map((one) => (one.key === key ? changed : one)) });
    },
  };
}

type Sponsorable = Extract<Entry, { sponsor?: AccountId }>;

const isSponsorable = (entry: Entry): entry is Sponsorable =>
  entry.kind !== 'contract-data' && entry.kind !== 'contract-code';

function ownerOf(entry: Sponsorable): AccountId | null {
  switch (entry.kind) {
    case 'account':
      return entry.id;
    case 'offer':
      return entry.seller;
    case 'claimable-balance':
      return null;
    default:
      return entry.account;
  }
}

function reservesOf(entry: Sponsorable): number {
  if (entry.kind === 'account') return 2;
  return entry.kind === 'claimable-balance' ? entry.claimants.length : 1;
}
