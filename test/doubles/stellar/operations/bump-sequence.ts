import { xdr } from '@stellar/stellar-sdk';
import { raiseSequence } from '../ledger/account.ts';
import { type Operation, told } from './operation.ts';

const Result = xdr.BumpSequenceResult;
const tell = (result: xdr.BumpSequenceResult) => told(xdr.OperationResultTr.bumpSequence(result));

export function bumpSequence(op: xdr.BumpSequenceOp): Operation {
  return {
    threshold: 'low',
    check: () => (op.bumpTo < 0n ? tell(Result.bumpSequenceBadSeq()) : undefined),
    apply({ state, header, source }) {
      // A lower target changes nothing, and succeeds.
      raiseSequence(state, header, source, op.bumpTo);
      return tell(Result.bumpSequenceSuccess());
    },
  };
}
