import type { xdr } from '@stellar/stellar-sdk';

/** A transaction's codes that are not their XDR's name. */
const TRANSACTION_CODES: Readonly<Record<string, string>> = {
  txNoAccount: 'tx_no_source_account',
  txBadMinSeqAgeOrGap: 'tx_bad_minseq_age_or_gap',
};

const OUTER_CODES: Readonly<Record<string, string>> = { opNoAccount: 'op_no_source_account' };

/** Prefixes of operations' codes, the longest first. Each is the name of an operation. */
const OPERATIONS = [
  'pathPaymentStrictReceive',
  'pathPaymentStrictSend',
  'payment',
  'createAccount',
  'manageSellOffer',
  'manageBuyOffer',
  'setOptions',
  'changeTrust',
  'allowTrust',
  'setTrustLineFlags',
  'accountMerge',
  'manageData',
  'bumpSequence',
  'invokeHostFunction',
  'extendFootprintTtl',
  'restoreFootprint',
];

/** Codes of any operation that differ from their names in XDR. */
const OPERATION_CODES: Readonly<Record<string, string>> = {
  alreadyExist: 'op_already_exists',
  offerCrossSelf: 'op_cross_self',
  overSendmax: 'op_over_source_max',
  underDestmin: 'op_under_dest_min',
  sellNotAuthorized: 'sell_not_authorized',
  buyNotAuthorized: 'buy_not_authorized',
  buyNoIssuer: 'buy_no_issuer',
  notFound: 'op_offer_not_found',
  nameNotFound: 'op_data_name_not_found',
  invalidName: 'op_data_invalid_name',
  seqnumTooFar: 'op_seq_num_too_far',
  notAuthMaintainLiabilities: 'op_not_aut_maintain_liabilities',
  noTrustLine: 'op_no_trust',
  trustNotRequired: 'op_not_required',
  trapped: 'function_trapped',
  resourceLimitExceeded: 'resource_limit_exceeded',
  entryArchived: 'entry_archived',
  insufficientRefundableFee: 'insufficient_refundable_fee',
};

type Result = xdr.TransactionResultResult | xdr.InnerTransactionResultResult;

/** A result in Horizon's terms, for a client that knows the transaction by this hash. */
export function resultCodes({ result }: xdr.TransactionResult, hash: string) {
  if (result.type !== 'txFeeBumpInnerFailed' && result.type !== 'txFeeBumpInnerSuccess') return plainCodes(result);
  const { transactionHash, result: inner } = result.innerResultPair;
  const codes = plainCodes(inner.result);
  // A client that submitted the inner transaction of another's fee bump gets only the codes of its own transaction.
  if (Buffer.from(transactionHash.toBytes()).toString('hex') === hash) return codes;
  return { ...codes, transaction: transactionCode(result.type), inner_transaction: codes.transaction };
}

function plainCodes(result: Result): { transaction: string; operations?: string[] } {
  const transaction = transactionCode(result.type);
  if (result.type !== 'txFailed' && result.type !== 'txSuccess') return { transaction };
  return { transaction, operations: result.results.map(operationCode) };
}

const transactionCode = (type: string): string => TRANSACTION_CODES[type] ?? snake(type);

function operationCode(result: xdr.OperationResult): string {
  if (result.type !== 'opInner') return OUTER_CODES[result.type] ?? snake(result.type);
  const { type } = result.tr.value as { type: string };
  const operation = OPERATIONS.find((name) => type.startsWith(name)) ?? '';
  const rest = `${type.charAt(operation.length).toLowerCase()}${type.slice(operation.length + 1)}`;
  return OPERATION_CODES[rest] ?? `op_${snake(rest)}`;
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
