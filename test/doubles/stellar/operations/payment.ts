import { xdr } from '@stellar/stellar-sdk';
import { accountOfMuxed } from '../ledger/address.ts';
import { assetNameOf, isAssetValid } from '../ledger/asset.ts';
import { NATIVE } from '../ledger/entry.ts';
import { type Operation, told } from './operation.ts';
import { payPlainly, REFUSALS, type Refusal } from './path-payment.ts';

const tell = (result: xdr.PaymentResult) => told(xdr.OperationResultTr.payment(result));
const refuse = (refusal: Refusal) => tell(xdr.PaymentResult.fromXdrObject({ code: REFUSALS[refusal] }));

export function payment(op: xdr.PaymentOp): Operation {
  const [destination, asset] = [accountOfMuxed(op.destination), assetNameOf(op.asset)];
  return {
    threshold: 'medium',
    check: () => (op.amount > 0n && isAssetValid(op.asset) ? undefined : refuse('malformed')),
    apply(acting) {
      // A payment of lumens to oneself changes nothing, so no balance is necessary.
      const isIdle = asset === NATIVE && destination === acting.source;
      const refusal = isIdle ? undefined : payPlainly(acting, destination, asset, op.amount);
      return refusal === undefined ? tell(xdr.PaymentResult.paymentSuccess()) : refuse(refusal);
    },
  };
}
