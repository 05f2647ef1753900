import { Address, type xdr } from '@stellar/stellar-sdk/base';
import { amountOf } from '../../domain/amount.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import type { ActualSpend, RequestedSpend } from '../../features/plugins/records/spending.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import type { ChainSpending } from '../chain.ts';
import { isAccountAddress, isContractAddress } from './address.ts';
import { operationOf } from './message/draft.ts';
import { feeForwardOf } from './message/forward.ts';
import { operationOutflow } from './message/outflow.ts';
import { accountOfMuxed, readEnvelope } from './message/transaction-envelope.ts';
import { readChainFields, readStoredRequest } from './schema.ts';

/**
 * What a request moves from the relayer: stroops and the smallest units of assets, added up without conversion. The
 * recipient is who is paid or called. The selector is the kind of operation, or the called function. For a transaction
 * of another account the relayer pays the fee, and what operations of its own account move.
 */
function spendOf(request: JsonObject): RequestedSpend {
  const parsed = readStoredRequest(request);
  if ('swap' in parsed) return NONE;
  if ('inner' in parsed) {
    const { transaction } = readEnvelope(parsed.inner);
    const recipient = accountOfMuxed(transaction.sourceAccount);
    const own = transaction.operations.filter(
      ({ sourceAccount: of }) => of !== null && accountOfMuxed(of) === parsed.own,
    );
    const [first] = own;
    return {
      recipient,
      selector: FEE_BUMP,
      value: own.reduce((sum, { body }) => sum + operationOutflow(body), 0n),
      fee: amountOf(parsed.max_fee),
      beyond: first === undefined ? null : `an operation of the relayer's own account, ${described(first.body)}`,
    };
  }
  if ('forward' in parsed) {
    const recipient = feeForwardOf(readEnvelope(parsed.forward).transaction)?.user ?? null;
    return { recipient, selector: FEE_FORWARD, value: 0n, fee: null, beyond: null };
  }
  const operations =
    'transaction' in parsed
      ? readEnvelope(parsed.transaction).transaction.operations
      : parsed.operations.map((one) => operationOf(one));
  const [first, ...others] = operations.map(({ body }) => body);
  const recipient = first === undefined ? null : recipientOf(first);
  const other = first === undefined ? undefined : others.find((one) => described(one) !== described(first));
  return {
    recipient,
    selector: first === undefined || recipient === null ? null : selectorOf(first),
    value: operations.reduce((sum, { body }) => sum + operationOutflow(body), 0n),
    fee: null,
    beyond: other === undefined ? null : `another operation, ${described(other)}`,
  };
}

/** What an operation does, and to whom. */
function described(body: xdr.OperationBody): string {
  const to = recipientOf(body);
  return `${selectorOf(body)}${to === null ? '' : ` to ${to}`}`;
}

/** The spend of a swap, which no client asks for. */
const NONE: RequestedSpend = { recipient: null, selector: null, value: 0n, fee: null, beyond: null };

/** The selectors of transactions of which the relayer only pays the fee. */
const FEE_BUMP = 'feeBump';
const FEE_FORWARD = 'feeForward';

/** Who is paid or called; null where nobody is. */
function recipientOf(body: xdr.OperationBody): string | null {
  switch (body.type) {
    case 'payment':
      return accountOfMuxed(body.paymentOp.destination);
    case 'createAccount':
      return Address.account(body.createAccountOp.destination.ed25519.toBytes()).toString();
    case 'pathPaymentStrictSend':
      return accountOfMuxed(body.pathPaymentStrictSendOp.destination);
    case 'pathPaymentStrictReceive':
      return accountOfMuxed(body.pathPaymentStrictReceiveOp.destination);
    case 'invokeHostFunction': {
      const { hostFunction } = body.invokeHostFunctionOp;
      if (hostFunction.type !== 'hostFunctionTypeInvokeContract') return null;
      return Address.fromScAddress(hostFunction.invokeContract.contractAddress).toString();
    }
    default:
      return null;
  }
}

/**
 * The kind of an operation, or the called function. A function's name has brackets, so that it is never taken for a
 * kind.
 */
function selectorOf(body: xdr.OperationBody): string {
  if (body.type !== 'invokeHostFunction') return body.type;
  const { hostFunction } = body.invokeHostFunctionOp;
  return hostFunction.type === 'hostFunctionTypeInvokeContract'
    ? `${hostFunction.invokeContract.functionName.toString()}()`
    : body.type;
}

/**
 * What a final transaction took. A failed transaction has paid its fee and moved nothing. A transaction in no ledger
 * has done neither.
 */
function spentBy({ request, fields }: Pick<Transaction, 'request' | 'fields'>): ActualSpend {
  const known = readChainFields(fields);
  const receipt = known?.receipt;
  if (receipt === undefined) return { value: 0n, fee: 0n };
  return { value: receipt.succeeded ? spendOf(request).value : 0n, fee: amountOf(receipt.fee ?? known?.fee ?? 0) };
}

/** How plugins' limits measure a transaction, and how operators name what they allow. */
export const chainSpending: ChainSpending = {
  spendOf,
  spentBy,
  recipient: {
    read: (text) => (isAccountAddress(text) || isContractAddress(text) ? text : undefined),
    expected: 'an account (G…) or a contract (C…) of Stellar',
  },
  selector: {
    read: (text) => (/^[A-Za-z0-9_]{1,32}(\(\))?$/.test(text) ? text : undefined),
    expected: 'a kind of operation, as payment or feeBump, or a function of a contract with brackets, as transfer()',
  },
  withoutRecipient: 'an operation that pays and calls nobody',
};
