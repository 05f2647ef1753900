import { xdr } from '@stellar/stellar-sdk';
import { convert, MAX_CROSSED } from '../exchange/convert.ts';
import type { Rounding } from '../exchange/exchange.ts';
import { accountOfMuxed, accountXdr } from '../ledger/address.ts';
import { assetNameOf, assetOf, isAssetValid, issuerOf } from '../ledger/asset.ts';
import { type AccountId, type AssetName, MAX_INT64 } from '../ledger/entry.ts';
import { holdingOf } from '../ledger/holding.ts';
import { accountIn } from '../ledger/state.ts';
import { type Acting, type Operation, told } from './operation.ts';

/** Result codes that all three payment operations share. */
export const REFUSALS = {
  malformed: -1,
  underfunded: -2,
  srcNoTrust: -3,
  srcNotAuthorized: -4,
  noDestination: -5,
  noTrust: -6,
  notAuthorized: -7,
  lineFull: -8,
} as const;

/** Result codes that only path payments have. */
const PATH_REFUSALS = { ...REFUSALS, tooFewOffers: -10, crossSelf: -11, bound: -12 } as const;

export type Refusal = keyof typeof REFUSALS;
type PathRefusal = keyof typeof PATH_REFUSALS;

interface Way {
  readonly destination: AccountId;
  readonly sendAsset: AssetName;
  readonly destAsset: AssetName;
  readonly path: readonly AssetName[];
}

type Walked = { atoms: readonly xdr.ClaimAtom[]; amount: bigint } | PathRefusal | 'too-many';

export function pathPaymentStrictReceive(op: xdr.PathPaymentStrictReceiveOp): Operation {
  const way = wayOf(op);
  const { destAmount, sendMax } = op;
  const tell = (result: xdr.PathPaymentStrictReceiveResult) =>
    told(xdr.OperationResultTr.pathPaymentStrictReceive(result));
  const refuse = (refusal: PathRefusal) =>
    tell(xdr.PathPaymentStrictReceiveResult.fromXdrObject({ code: PATH_REFUSALS[refusal] }));
  return {
    threshold: 'medium',
    check: () => (destAmount > 0n && sendMax > 0n && areValid(op) ? undefined : refuse('malformed')),
    apply(acting) {
      const walked = receive(acting, way, destAmount, sendMax);
      if (walked === 'too-many') return xdr.OperationResult.opExceededWorkLimit();
      if (typeof walked === 'string') return refuse(walked);
      const success = { offers: [...walked.atoms], last: paid(way, destAmount) };
      return tell(
        xdr.PathPaymentStrictReceiveResult.pathPaymentStrictReceiveSuccess(
          new xdr.PathPaymentStrictReceiveResultSuccess(success),
        ),
      );
    },
  };
}

export function pathPaymentStrictSend(op: xdr.PathPaymentStrictSendOp): Operation {
  const way = wayOf(op);
  const { sendAmount, destMin } = op;
  const tell = (result: xdr.PathPaymentStrictSendResult) => told(xdr.OperationResultTr.pathPaymentStrictSend(result));
  const refuse = (refusal: PathRefusal) =>
    tell(xdr.PathPaymentStrictSendResult.fromXdrObject({ code: PATH_REFUSALS[refusal] }));
  return {
    threshold: 'medium',
    check: () => (sendAmount > 0n && destMin > 0n && areValid(op) ? undefined : refuse('malformed')),
    apply(acting) {
      const walked = send(acting, way, sendAmount, destMin);
      if (walked === 'too-many') return xdr.OperationResult.opExceededWorkLimit();
      if (typeof walked === 'string') return refuse(walked);
      const success = { offers: [...walked.atoms], last: paid(way, walked.amount) };
      return tell(
        xdr.PathPaymentStrictSendResult.pathPaymentStrictSendSuccess(
          new xdr.PathPaymentStrictSendResultSuccess(success),
        ),
      );
    },
  };
}

/** Pays one asset without offers. */
export function payPlainly(
  acting: Acting,
  destination: AccountId,
  asset: AssetName,
  amount: bigint,
): Refusal | undefined {
  const walked = receive(acting, { destination, sendAsset: asset, destAsset: asset, path: [] }, amount, amount);
  return typeof walked === 'string' ? (walked as Refusal) : undefined;
}

/** Goes from the destination back to the source, so that exactly this amount arrives. */
function receive(acting: Acting, way: Way, destAmount: bigint, sendMax: bigint): Walked {
  const refused = noDestination(acting, way) ?? credit(acting, way, destAmount);
  if (refused !== undefined) return refused;
  let [received, mostReceived, atoms] = [way.destAsset, destAmount, [] as xdr.ClaimAtom[]];
  for (const sent of [...way.path.toReversed(), way.sendAsset]) {
    if (sent === received) continue;
    const hop = { sent, received, mostSent: MAX_INT64, mostReceived, rounding: 'strict-receive' } as const;
    const walked = walk(acting, hop, atoms.length);
    if (typeof walked === 'string') return walked;
    [received, mostReceived, atoms] = [sent, walked.sent, [...walked.atoms, ...atoms]];
  }
  if (mostReceived > sendMax) return 'bound';
  return debit(acting, way, mostReceived) ?? { atoms, amount: mostReceived };
}

/** Goes from the source to the destination, so that exactly this amount leaves. */
function send(acting: Acting, way: Way, sendAmount: bigint, destMin: bigint): Walked {
  const refused = noDestination(acting, way) ?? debit(acting, way, sendAmount);
  if (refused !== undefined) return refused;
  let [sent, mostSent, atoms] = [way.sendAsset, sendAmount, [] as xdr.ClaimAtom[]];
  for (const received of [...way.path, way.destAsset]) {
    if (sent === received) continue;
    const hop = { sent, received, mostSent, mostReceived: MAX_INT64, rounding: 'strict-send' } as const;
    const walked = walk(acting, hop, atoms.length);
    if (typeof walked === 'string') return walked;
    [sent, mostSent, atoms] = [received, walked.received, [...atoms, ...walked.atoms]];
  }
  if (mostSent < destMin) return 'bound';
  return credit(acting, way, mostSent) ?? { atoms, amount: mostSent };
}

interface Hop {
  sent: AssetName;
  received: AssetName;
  mostSent: bigint;
  mostReceived: bigint;
  rounding: Rounding;
}

function walk({ state, header, source }: Acting, hop: Hop, crossed: number) {
  const converted = convert(state, header, {
    ...hop,
    mostCrossed: MAX_CROSSED - crossed,
    stopAt: ({ seller }) => (seller === source ? 'cross-self' : undefined),
  });
  if (converted.end === 'too-many') return 'too-many';
  if (converted.end === 'cross-self') return 'crossSelf';
  const isExact =
    hop.rounding === 'strict-send' ? converted.sent === hop.mostSent : converted.received === hop.mostReceived;
  return converted.end === 'done' && isExact ? converted : 'tooFewOffers';
}

/** An asset may always return to its issuer, even if the issuer's account no longer exists. */
function noDestination({ state }: Acting, { destination, sendAsset, destAsset, path }: Way): Refusal | undefined {
  const goesBack = path.length === 0 && sendAsset === destAsset && issuerOf(destAsset) === destination;
  return goesBack || accountIn(state, destination) !== undefined ? undefined : 'noDestination';
}

function credit({ state, header }: Acting, { destination, destAsset }: Way, amount: bigint): Refusal | undefined {
  const holding = holdingOf(state, header, destination, destAsset);
  if (holding === undefined) return 'noTrust';
  if (!holding.isAuthorized) return 'notAuthorized';
  return holding.add(state, amount) ? undefined : 'lineFull';
}

function debit({ state, header, source }: Acting, { sendAsset }: Way, amount: bigint): Refusal | undefined {
  const holding = holdingOf(state, header, source, sendAsset);
  if (holding === undefined) return 'srcNoTrust';
  if (!holding.isAuthorized) return 'srcNotAuthorized';
  return holding.add(state, -amount) ? undefined : 'underfunded';
}

function wayOf(op: xdr.PathPaymentStrictReceiveOp | xdr.PathPaymentStrictSendOp): Way {
  return {
    destination: accountOfMuxed(op.destination),
    sendAsset: assetNameOf(op.sendAsset),
    destAsset: assetNameOf(op.destAsset),
    path: op.path.map(assetNameOf),
  };
}

function areValid({ sendAsset, destAsset, path }: xdr.PathPaymentStrictReceiveOp | xdr.PathPaymentStrictSendOp) {
  return [sendAsset, destAsset, ...path].every(isAssetValid);
}

function paid({ destination, destAsset }: Way, amount: bigint): xdr.SimplePaymentResult {
  const asset = assetOf(destAsset).toXdrObject();
  return new xdr.SimplePaymentResult({ destination: accountXdr(destination), asset, amount });
}
