import { xdr } from '@stellar/stellar-sdk';
import { addSubEntry, removeSubEntry, sponsoredNow } from '../ledger/account.ts';
import type { DataEntry } from '../ledger/entry.ts';
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
      const known = state.get(key)?.entry as DataEntry | undefined;
      const isThere = known !== undefined;
      if (op.dataValue === null) {
        if (known === undefined) return tell(Result.manageDataNameNotFound());
        state.remove(key);
        removeSubEntry(state, header, source, known.sponsor);
        return tell(Result.manageDataSuccess());
      }
      const refused = isThere ? undefined : addSubEntry(state, header, source);
      if (refused === 'low-reserve') return tell(Result.manageDataLowReserve());
      if (refused === 'too-many') return xdr.OperationResult.opTooManySubentries();
      const value = Buffer.from(op.dataValue.toBytes()).toString('base64');
      const kept = known === undefined ? sponsoredNow(state, source) : sponsorIn(known);
      state.put({ kind: 'data', account: source, name, value, ...kept });
      return tell(Result.manageDataSuccess());
    },
  };
}

const sponsorIn = ({ sponsor }: DataEntry) => (sponsor === undefined ? {} : { sponsor });
