import { Address, type xdr } from '@stellar/stellar-sdk/base';
import { amountOf } from '../../domain/amount.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import type { Spend, Spent } from '../../domain/transaction/spending.ts';
import type { Transaction } from '../../domain/transaction/transaction.ts';
import type { ChainSpending } from '../chain.ts';
import { isAccount, isContract } from './address.ts';
import { operationOf } from './message/draft.ts';
import { forwardOf } from './message/forward.ts';
import { outflowOf } from './message/outflow.ts';
import { accountOf, readEnvelope } from './message/transaction-envelope.ts';
import { readFields, readRequest } from './schema.ts';

/**
 * What a request moves from the relayer: stroops and the smallest units of assets, added up without conversion. The
 * recipient is who is paid or called. The selector is the kind of operation, or the called function. For a transaction
 * of another account the relayer pays the fee, and what operations of its own account move.
 */
function spendOf(request: JsonObject): Spend {
  const parsed = readRequest(request);
  if ('swap' in parsed) return NONE;
  if ('inner' in parsed) {
    const { transaction } = readEnvelope(parsed.inner);
    const recipient = accountOf(transaction.sourceAccount);
    const own = transaction.operations.filter(({ sourceAccount: of }) => of !== null && accountOf(of) === parsed.own);
    const [first] = own;
    return {
      recipient,
      selector: FEE_BUMP,
      value: own.reduce((sum, { body }) => sum + outflowOf(body), 0n),
      fee: amountOf(parsed.max_fee),
      beyond: first === undefined ? null : `an operation of the relayer's own account, ${described(first.body)}`,
    };
  }
  if ('forward' in parsed) {
    const recipient = forwardOf(readEnvelope(parsed.forward).transaction)?.user ?? null;
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
    value: operations.reduce((sum, { body }) => sum + outflowOf(body), 0n),
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
const NONE: Spend = { recipient: null, selector: null, value: 0n, fee: null, beyond: null };

/** The selectors of transactions of which the relayer only pays the fee. */
const FEE_BUMP = 'feeBump';
const FEE_FORWARD = 'feeForward';

/** Who is paid or called; null where nobody is. */
function recipientOf(body: xdr.OperationBody): string | null {
  switch (body.type) {
    case 'payment':
      return accountOf(body.paymentOp.destination);
    case 'createAccount':
      return Address.account(body.createAccountOp.destination.ed25519.toBytes()).toString();
    case 'pathPaymentStrictSend':
      return accountOf(body.pathPaymentStrictSendOp.destination);
    case 'pathPaymentStrictReceive':
      return accountOf(body.pathPaymentStrictReceiveOp.destination);
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
function spentBy({ request, fields }: Pick<Transaction, 'request' | 'fields'>): Spent {
  const known = readFields(fields);
  const receipt = known?.receipt;
  if (receipt === undefined) return { value: 0n, fee: 0n };
  return { value: receipt.succeeded ? spendOf(request).value : 0n, fee: amountOf(receipt.fee ?? known?.fee ?? 0) };
}

/** How plugins' limits measure a transaction, and how operators name what they allow. */
export const spending: ChainSpending = {
  spendOf,
  spentBy,
  recipient: {
    read: (text) => (isAccount(text) || isContract(text) ? text : undefined),
    expected: 'an account (G…) or a contract (C…) of Stellar',
  },
  selector: {
    read: (text) => (/^[A-Za-z0-9_]{1,32}(\(\))?$/.test(text) ? text : undefined),
    expected: 'a kind of operation, as payment or feeBump, or a function of a contract with brackets, as transfer()',
  },
  withoutRecipient: 'an operation that pays and calls nobody',
};
