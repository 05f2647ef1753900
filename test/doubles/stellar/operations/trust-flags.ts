import { xdr } from '@stellar/stellar-sdk';
import { removeOffer } from '../exchange/offers.ts';
import { accountIdOf } from '../ledger/address.ts';
import { assetNameOf, isAssetValid, issuerOf } from '../ledger/asset.ts';
import { ACCOUNT_FLAGS, type AccountId, type AssetName, LINE_FLAGS } from '../ledger/entry.ts';
import { trustLineIn } from '../ledger/holding.ts';
import { accountIn } from '../ledger/state.ts';
import { type Acting, type Operation, told } from './operation.ts';

const AUTHORITY = LINE_FLAGS.authorized | LINE_FLAGS.maintains;
const ALL_FLAGS = AUTHORITY | LINE_FLAGS.clawback;

export function setTrustLineFlags(op: xdr.SetTrustLineFlagsOp): Operation {
  const Result = xdr.SetTrustLineFlagsResult;
  const tell = (result: xdr.SetTrustLineFlagsResult) => told(xdr.OperationResultTr.setTrustLineFlags(result));
  const [trustor, asset] = [accountIdOf(op.trustor), assetNameOf(op.asset)];
  const { setFlags: set, clearFlags: clear } = op;
  return {
    threshold: 'low',
    check(source) {
      const isOwn = isAssetValid(op.asset) && issuerOf(asset) === source && trustor !== source;
      const areFlags = (set & ~AUTHORITY) === 0 && set !== AUTHORITY && (clear & ~ALL_FLAGS) === 0;
      return isOwn && areFlags && (set & clear) === 0 ? undefined : tell(Result.setTrustLineFlagsMalformed());
    },
    apply(acting) {
      const takes = (clear & AUTHORITY) !== 0 && (set & LINE_FLAGS.authorized) === 0;
      if (takes && !isRevocable(acting)) return tell(Result.setTrustLineFlagsCantRevoke());
      const line = trustLineIn(acting.state, trustor, asset);
      if (line === undefined) return tell(Result.setTrustLineFlagsNoTrustLine());
      const flags = (line.flags & ~clear) | set;
      if ((flags & AUTHORITY) === AUTHORITY) return tell(Result.setTrustLineFlagsInvalidState());
      setFlags(acting, trustor, asset, flags);
      return tell(Result.setTrustLineFlagsSuccess());
    },
  };
}

export function allowTrust(op: xdr.AllowTrustOp): Operation {
  const Result = xdr.AllowTrustResult;
  const tell = (result: xdr.AllowTrustResult) => told(xdr.OperationResultTr.allowTrust(result));
  const trustor = accountIdOf(op.trustor);
  const four = op.asset.type === 'assetTypeCreditAlphanum4';
  const code = Buffer.from((four ? op.asset.assetCode4 : op.asset.assetCode12).toBytes()).toString('latin1');
  const plainCode = code.replace(/\0+$/, '');
  const isCode = /^[a-zA-Z0-9]+$/.test(plainCode) && plainCode.length > (four ? 0 : 4);
  return {
    threshold: 'low',
    check(source) {
      const isGood = isCode && op.authorize <= LINE_FLAGS.maintains && trustor !== source;
      return isGood ? undefined : tell(Result.allowTrustMalformed());
    },
    apply(acting) {
      const asset = `${plainCode}:${acting.source}`;
      const revocable = isRevocable(acting);
      if (!revocable && op.authorize === 0) return tell(Result.allowTrustCantRevoke());
      const line = trustLineIn(acting.state, trustor, asset);
      if (line === undefined) return tell(Result.allowTrustNoTrustLine());
      const lowers = (line.flags & LINE_FLAGS.authorized) !== 0 && op.authorize === LINE_FLAGS.maintains;
      if (!revocable && lowers) return tell(Result.allowTrustCantRevoke());
      setFlags(acting, trustor, asset, (line.flags & ~AUTHORITY) | op.authorize);
      return tell(Result.allowTrustSuccess());
    },
  };
}

function isRevocable({ state, source }: Acting): boolean {
  return ((accountIn(state, source)?.flags ?? 0) & ACCOUNT_FLAGS.revocable) !== 0;
}

/** Without authorization even to maintain liabilities, the trustor's offers are removed. */
function setFlags({ state, header }: Acting, trustor: AccountId, asset: AssetName, flags: number): void {
  if ((flags & AUTHORITY) === 0) {
    const offers = [...state.all('offer')].filter(
      ({ seller, selling, buying }) => seller === trustor && (selling === asset || buying === asset),
    );
    for (const offer of offers) removeOffer(state, header, offer);
  }
  const line = trustLineIn(state, trustor, asset);
  if (line !== undefined) state.put({ ...line, flags });
}
