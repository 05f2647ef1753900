import { Asset, decodeAddressToMuxedAccount, xdr } from '@stellar/stellar-sdk/base';
import { amountOf } from '../../../domain/amount.ts';
import type { WireMemo } from '../form/memo.ts';
import type { WireAsset, WirePayment } from '../form/payment-operation.ts';
import type { StellarOperation } from '../schema.ts';
import { consentsOf, hostFunctionOf } from './contract.ts';

/** An operation of the transaction's own source. An operation of contracts gets the consents that the client names. */
export function operationOf(operation: StellarOperation): xdr.Operation {
  return new xdr.Operation({ sourceAccount: null, body: bodyOf(operation) });
}

function bodyOf(operation: StellarOperation): xdr.OperationBody {
  switch (operation.type) {
    case 'payment':
      return xdr.OperationBody.payment(paymentOf(operation));
    case 'bump_sequence':
      return xdr.OperationBody.bumpSequence(new xdr.BumpSequenceOp({ bumpTo: amountOf(operation.bump_to) }));
    case 'restore_footprint':
      return xdr.OperationBody.restoreFootprint(new xdr.RestoreFootprintOp({ ext: xdr.ExtensionPoint.v0() }));
    case 'invoke_contract':
    case 'create_contract':
    case 'upload_wasm':
      return xdr.OperationBody.invokeHostFunction(
        new xdr.InvokeHostFunctionOp({ hostFunction: hostFunctionOf(operation), auth: consentsOf(operation) ?? [] }),
      );
    default:
      return operation satisfies never;
  }
}

function paymentOf({ destination, asset, amount }: WirePayment): xdr.PaymentOp {
  return new xdr.PaymentOp({
    destination: decodeAddressToMuxedAccount(destination),
    asset: assetOf(asset).toXdrObject(),
    amount: amountOf(amount),
  });
}

function assetOf(asset: WireAsset): Asset {
  return asset.type === 'native' ? Asset.native() : new Asset(asset.code, asset.issuer);
}

export function memoOf(memo: WireMemo | undefined): xdr.Memo {
  switch (memo?.type) {
    case undefined:
    case 'none':
      return xdr.Memo.memoNone();
    case 'text':
      return xdr.Memo.memoText(memo.value);
    case 'id':
      return xdr.Memo.memoId(amountOf(memo.value));
    case 'hash':
      return xdr.Memo.memoHash(Buffer.from(memo.value, 'hex'));
    case 'return':
      return xdr.Memo.memoReturn(Buffer.from(memo.value, 'hex'));
    default:
      return memo satisfies never;
  }
}
