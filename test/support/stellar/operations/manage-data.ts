import { xdr } from '@stellar/stellar-sdk';
import { addSubEntry, removeSubEntries } from '../ledger/account.ts';
import { keys } from '../ledger/entry-key.ts';
import { type Operation, told } from './operation.ts';
import { isPrintable } from './printable.ts';

const Result = xdr.ManageDataResult;
const tell = (result: xdr.ManageDataResult) => told(xdr.OperationResultTr.manageData(result));

export function manageData(op: xdr.ManageDataOp): Operation {
  const name = op.dataName.toString();
  return {
    threshold: 'medium',
    check() {
      const isGood = op.dataName.length > 0 && isPrintable(op.dataName.bytes);
      return isGood ? undefined : tell(Result.manageDataInvalidName());
    },
    apply({ state, header, source }) {
      const key = keys.data(source, name);
      const isThere = state.get(key) !== undefined;
      if (op.dataValue === null) {
        if (!isThere) return tell(Result.manageDataNameNotFound());
        state.remove(key);
        removeSubEntries(state, source);
        return tell(Result.manageDataSuccess());
      }
      const refused = isThere ? undefined : addSubEntry(state, header, source);
      if (refused === 'low-reserve') return tell(Result.manageDataLowReserve());
      if (refused === 'too-many') return xdr.OperationResult.opTooManySubentries();
      const value = Buffer.from(op.dataValue.toBytes()).toString('base64');
      state.put({ kind: 'data', account: source, name, value });
      return tell(Result.manageDataSuccess());
    },
  };
}
