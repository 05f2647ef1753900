import { xdr } from '@stellar/stellar-sdk';
import { reserve } from '../ledger/account.ts';
import { accountIdOf, accountXdr } from '../ledger/address.ts';
import { assetNameOf, isAssetValid } from '../ledger/asset.ts';
import type { ClaimableBalanceEntry } from '../ledger/entry.ts';
import { keys } from '../ledger/entry-key.ts';
import { holdingOf } from '../ledger/holding.ts';
import { sha256 } from '../transactions/frame.ts';
import { type Acting, type Operation, told } from './operation.ts';

const MAX_CLAIMANTS = 10;
const MAX_DEPTH = 4;

const Created = xdr.CreateClaimableBalanceResult;
const Claimed = xdr.ClaimClaimableBalanceResult;
const tellCreated = (result: xdr.CreateClaimableBalanceResult) =>
  told(xdr.OperationResultTr.createClaimableBalance(result));
const tellClaimed = (result: xdr.ClaimClaimableBalanceResult) =>
  told(xdr.OperationResultTr.claimClaimableBalance(result));

/** CAP-23: takes an amount from the source, for whichever claimant asks for it first. */
export function createClaimableBalance(op: xdr.CreateClaimableBalanceOp): Operation {
  const asset = assetNameOf(op.asset);
  const claimants = op.claimants.map(({ v0 }) => ({ id: accountIdOf(v0.destination), predicate: v0.predicate }));
  return {
    threshold: 'medium',
    check() {
      const isGood =
        isAssetValid(op.asset) &&
        op.amount > 0n &&
        claimants.length > 0 &&
        claimants.length <= MAX_CLAIMANTS &&
        new Set(claimants.map(({ id }) => id)).size === claimants.length &&
        claimants.every(({ predicate }) => isWellFormed(predicate, 1));
      return isGood ? undefined : tellCreated(Created.createClaimableBalanceMalformed());
    },
    apply(acting) {
      const { state, header, source } = acting;
      const sponsor = state.sponsors.get(source) ?? source;
      if (!reserve(state, header, { owner: null, sponsor, count: claimants.length, kind: 'new' })) {
        return tellCreated(Created.createClaimableBalanceLowReserve());
      }
      const held = holdingOf(state, header, source, asset);
      if (held === undefined) return tellCreated(Created.createClaimableBalanceNoTrust());
      if (!held.isAuthorized) return tellCreated(Created.createClaimableBalanceNotAuthorized());
      if (held.available < op.amount || !held.add(state, -op.amount)) {
        return tellCreated(Created.createClaimableBalanceUnderfunded());
      }
      const id = balanceIdOf(acting);
      state.put({
        kind: 'claimable-balance',
        id: id.toXdr('base64'),
        asset,
        amount: op.amount,
        sponsor,
        claimants: claimants.map((one) => ({
          id: one.id,
          predicate: absolute(one.predicate, header.closeTime).toXdr('base64'),
        })),
      });
      return tellCreated(Created.createClaimableBalanceSuccess(id));
    },
  };
}

/** The id covers the transaction's source and sequence, and the place of the operation. */
function balanceIdOf({ transaction, place }: Acting): xdr.ClaimableBalanceId {
  const operationId = new xdr.HashIdPreimageOperationId({
    sourceAccount: accountXdr(transaction.source),
    seqNum: transaction.sequence,
    opNum: place,
  });
  return xdr.ClaimableBalanceId.claimableBalanceIdTypeV0(
    sha256(xdr.HashIdPreimage.envelopeTypeOpId(operationId).toXdr()),
  );
}

export function claimClaimableBalance({ balanceId }: xdr.ClaimClaimableBalanceOp): Operation {
  return {
    threshold: 'low',
    check: () => undefined,
    apply({ state, header, source }) {
      const key = keys.claimableBalance(balanceId.toXdr('base64'));
      const balance = state.get(key)?.entry as ClaimableBalanceEntry | undefined;
      if (balance === undefined) return tellClaimed(Claimed.claimClaimableBalanceDoesNotExist());
      const own = balance.claimants.find(({ id }) => id === source);
      if (own === undefined || !holds(xdr.ClaimPredicate.fromXdr(own.predicate, 'base64'), header.closeTime)) {
        return tellClaimed(Claimed.claimClaimableBalanceCannotClaim());
      }
      const held = holdingOf(state, header, source, balance.asset);
      if (held === undefined) return tellClaimed(Claimed.claimClaimableBalanceNoTrust());
      if (!held.isAuthorized) return tellClaimed(Claimed.claimClaimableBalanceNotAuthorized());
      if (!held.add(state, balance.amount)) return tellClaimed(Claimed.claimClaimableBalanceLineFull());
      state.remove(key);
      const count = -balance.claimants.length;
      reserve(state, header, { owner: null, sponsor: balance.sponsor, count, kind: 'new' });
      return tellClaimed(Claimed.claimClaimableBalanceSuccess());
    },
  };
}

function isWellFormed(predicate: xdr.ClaimPredicate, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  switch (predicate.type) {
    case 'claimPredicateUnconditional':
      return true;
    case 'claimPredicateAnd':
      return (
        predicate.andPredicates.length === 2 && predicate.andPredicates.every((one) => isWellFormed(one, depth + 1))
      );
    case 'claimPredicateOr':
      return predicate.orPredicates.length === 2 && predicate.orPredicates.every((one) => isWellFormed(one, depth + 1));
    case 'claimPredicateNot':
      return predicate.notPredicate !== null && isWellFormed(predicate.notPredicate, depth + 1);
    case 'claimPredicateBeforeAbsoluteTime':
      return predicate.absBefore >= 0n;
    case 'claimPredicateBeforeRelativeTime':
      return predicate.relBefore >= 0n;
    default:
      return predicate satisfies never;
  }
}

/** The ledger keeps moments, not spans. */
function absolute(predicate: xdr.ClaimPredicate, now: bigint): xdr.ClaimPredicate {
  const of = xdr.ClaimPredicate;
  switch (predicate.type) {
    case 'claimPredicateAnd':
      return of.claimPredicateAnd(predicate.andPredicates.map((one) => absolute(one, now)));
    case 'claimPredicateOr':
      return of.claimPredicateOr(predicate.orPredicates.map((one) => absolute(one, now)));
    case 'claimPredicateNot':
      return of.claimPredicateNot(predicate.notPredicate === null ? null : absolute(predicate.notPredicate, now));
    case 'claimPredicateBeforeRelativeTime':
      return of.claimPredicateBeforeAbsoluteTime(now + predicate.relBefore);
    default:
      return predicate;
  }
}

function holds(predicate: xdr.ClaimPredicate, now: bigint): boolean {
  switch (predicate.type) {
    case 'claimPredicateUnconditional':
      return true;
    case 'claimPredicateAnd':
      return predicate.andPredicates.every((one) => holds(one, now));
    case 'claimPredicateOr':
      return predicate.orPredicates.some((one) => holds(one, now));
    case 'claimPredicateNot':
      return predicate.notPredicate !== null && !holds(predicate.notPredicate, now);
    case 'claimPredicateBeforeAbsoluteTime':
      return now < predicate.absBefore;
    case 'claimPredicateBeforeRelativeTime':
      return false;
    default:
      return predicate satisfies never;
  }
}
