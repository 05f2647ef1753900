import { xdr } from '@stellar/stellar-sdk';
import { addBalance, availableBalance, newAccount, reserve } from '../ledger/account.ts';
import { accountIdOf } from '../ledger/address.ts';
import { accountIn } from '../ledger/state.ts';
import { type Operation, told } from './operation.ts';

const Result = xdr.CreateAccountResult;
const tell = (result: xdr.CreateAccountResult) => told(xdr.OperationResultTr.createAccount(result));

export function createAccount(op: xdr.CreateAccountOp): Operation {
  const destination = accountIdOf(op.destination);
  return {
    threshold: 'medium',
    check(source) {
      const isBad = op.startingBalance < 0n || destination === source;
      return isBad ? tell(Result.createAccountMalformed()) : undefined;
    },
    apply({ state, header, source }) {
      if (accountIn(state, destination) !== undefined) return tell(Result.createAccountAlreadyExist());
      // A sponsored account may begin with nothing (CAP-33).
      const sponsor = state.sponsors.get(destination);
      const least = sponsor === undefined ? 2n * header.baseReserve : 0n;
      if (op.startingBalance < least) return tell(Result.createAccountLowReserve());
      const made = newAccount(destination, op.startingBalance, header.sequence);
      const kept = { owner: destination, sponsor, count: 2, kind: 'new' } as const;
      if (sponsor !== undefined && !reserve(state, header, kept)) return tell(Result.createAccountLowReserve());
      const payer = accountIn(state, source);
      if (payer === undefined || availableBalance(header, payer) < op.startingBalance) {
        return tell(Result.createAccountUnderfunded());
      }
      addBalance(state, header, source, -op.startingBalance);
      state.put(sponsor === undefined ? made : { ...made, sponsored: 2, sponsor });
      return tell(Result.createAccountSuccess());
    },
  };
}
