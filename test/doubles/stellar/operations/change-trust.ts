import { xdr } from '@stellar/stellar-sdk';
import { addSubEntry, removeSubEntry, sponsoredNow } from '../ledger/account.ts';
import { assetNameOf, isAssetValid, issuerOf } from '../ledger/asset.ts';
import { ACCOUNT_FLAGS, type AccountEntry, LINE_FLAGS } from '../ledger/entry.ts';
import { keys } from '../ledger/entry-key.ts';
import { trustLineIn } from '../ledger/holding.ts';
import { accountIn } from '../ledger/state.ts';
import { type Acting, type Operation, told } from './operation.ts';

const Result = xdr.ChangeTrustResult;
const tell = (result: xdr.ChangeTrustResult) => told(xdr.OperationResultTr.changeTrust(result));

export function changeTrust(op: xdr.ChangeTrustOp): Operation {
  const { line, limit } = op;
  const asset = assetNameOf(line);
  const issuer = issuerOf(asset);
  return {
    threshold: 'medium',
    check(source) {
      const isGood = limit >= 0n && issuer !== undefined && isAssetValid(line) && issuer !== source;
      return isGood ? undefined : tell(Result.changeTrustMalformed());
    },
    apply(acting) {
      const { state, header, source } = acting;
      const known = trustLineIn(state, source, asset);
      const issuing = issuer === undefined ? undefined : accountIn(state, issuer);
      if (known === undefined) return limit === 0n ? tell(Result.changeTrustInvalidLimit()) : create(acting, issuing);
      if (limit < known.balance + known.liabilities.buying) return tell(Result.changeTrustInvalidLimit());
      if (limit === 0n) {
        state.remove(keys.trustLine(source, asset));
        removeSubEntry(state, header, source, known.sponsor);
        return tell(Result.changeTrustSuccess());
      }
      if (issuing === undefined) return tell(Result.changeTrustNoIssuer());
      state.put({ ...known, limit });
      return tell(Result.changeTrustSuccess());
    },
  };

  function create({ state, header, source }: Acting, issuing: AccountEntry | undefined): xdr.OperationResult {
    if (issuing === undefined) return tell(Result.changeTrustNoIssuer());
    const refused = addSubEntry(state, header, source);
    if (refused === 'low-reserve') return tell(Result.changeTrustLowReserve());
    if (refused === 'too-many') return xdr.OperationResult.opTooManySubentries();
    const authorized = (issuing.flags & ACCOUNT_FLAGS.required) === 0 ? LINE_FLAGS.authorized : 0;
    const clawback = (issuing.flags & ACCOUNT_FLAGS.clawback) === 0 ? 0 : LINE_FLAGS.clawback;
    const flags = authorized | clawback;
    const liabilities = { buying: 0n, selling: 0n };
    state.put({
      kind: 'trust-line',
      account: source,
      asset,
      balance: 0n,
      limit,
      flags,
      liabilities,
      ...sponsoredNow(state, source),
    });
    return tell(Result.changeTrustSuccess());
  }
}
