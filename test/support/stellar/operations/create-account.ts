import { xdr } from '@stellar/stellar-sdk';
import { addBalance, availableBalance, newAccount } from '../ledger/account.ts';
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
      if (op.startingBalance < 2n * header.baseReserve) return tell(Result.createAccountLowReserve());
      const payer = accountIn(state, source);
      if (payer === undefined || availableBalance(header, payer) < op.startingBalance) {
        return tell(Result.createAccountUnderfunded());
      }
      addBalance(state, header, source, -op.startingBalance);
      state.put(newAccount(destination, op.startingBalance, header.sequence));
      return tell(Result.createAccountSuccess());
    },
  };
}
