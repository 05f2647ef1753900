import { xdr } from '@stellar/stellar-sdk';
import { addBalance, reserve } from '../ledger/account.ts';
import { accountOfMuxed } from '../ledger/address.ts';
import { ACCOUNT_FLAGS, startingSequence } from '../ledger/entry.ts';
import { keys } from '../ledger/entry-key.ts';
import { accountIn } from '../ledger/state.ts';
import { type Operation, told } from './operation.ts';

const Result = xdr.AccountMergeResult;
const tell = (result: xdr.AccountMergeResult) => told(xdr.OperationResultTr.accountMerge(result));

export function accountMerge(to: xdr.MuxedAccount): Operation {
  const destination = accountOfMuxed(to);
  return {
    threshold: 'high',
    check: (source) => (destination === source ? tell(Result.accountMergeMalformed()) : undefined),
    apply({ state, header, source, sequenceInLedger }) {
      const account = accountIn(state, source);
      if (account === undefined) return xdr.OperationResult.opNoAccount();
      if (accountIn(state, destination) === undefined) return tell(Result.accountMergeNoAccount());
      if ((account.flags & ACCOUNT_FLAGS.immutable) !== 0) return tell(Result.accountMergeImmutableSet());
      if (account.subEntries !== account.signers.length) return tell(Result.accountMergeHasSubEntries());
      if (account.sponsoring > 0) return tell(Result.accountMergeIsSponsor());
      // If the account is created again in this ledger, it must not get a lower sequence.
      const bound = startingSequence(header.sequence);
      if (account.sequence >= bound || sequenceInLedger(source) >= bound) {
        return tell(Result.accountMergeSeqnumTooFar());
      }
      if (!addBalance(state, header, destination, account.balance)) return tell(Result.accountMergeDestFull());
      const kept = [
        ...account.signers.map(({ sponsor }) => ({ sponsor, count: -1 })),
        { sponsor: account.sponsor, count: -2 },
      ];
      for (const { sponsor, count } of kept) {
        if (sponsor !== undefined) reserve(state, header, { owner: null, sponsor, count, kind: 'new' });
      }
      state.remove(keys.account(source));
      return tell(Result.accountMergeSuccess(account.balance));
    },
  };
}
