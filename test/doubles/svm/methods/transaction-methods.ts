import { accountAnswer } from '../account-answer.ts';
import type { Block } from '../blocks.ts';
import { messageIn, transactionIn } from '../encoded-transaction.ts';
import { feeOf } from '../fee.ts';
import type { NodeView } from '../node-view.ts';
import { type Fields, fields, flagIn, keyIn, numberIn, signatureIn, textAt, textsAt } from '../params.ts';
import { CODES, invalidParams, RpcError } from '../rpc-error.ts';
import type { Simulated } from '../runtime.ts';
import { textOf } from '../transaction-error.ts';
import type { WireTransaction } from '../wire-transaction.ts';
import type { Methods } from './method.ts';

const MAX_SIGNATURES = 256;
const MAX_LOCKS = 128;
const FEE_SLOTS = 150;

/** Methods about sending transactions. */
export const transactionMethods: Methods = {
  sendTransaction(view, params) {
    const options = fields(params[1]);
    const transaction = transactionIn(textAt(params, 0), options);
    view.offers.push(transaction.signature);
    const skips = flagIn(options['skipPreflight']);
    const block = view.block(options, skips ? 'processed' : 'finalized', 'preflightCommitment');
    if (!skips) preflight(view, transaction, block);
    view.ledger.accept(transaction);
    return transaction.signature;
  },
  simulateTransaction(view, params) {
    const options = fields(params[1]);
    const transaction = transactionIn(textAt(params, 0), options);
    const [verifies, replaces] = [flagIn(options['sigVerify']), flagIn(options['replaceRecentBlockhash'])];
    if (verifies && replaces) throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
    if (verifies) mustBeSigned(view, transaction);
    const block = view.block(options);
    const result = simulate(view, transaction, block, replaces);
    const accounts = accountsAfter(view, block, result, fields(options['accounts']));
    const replacement = {
      blockhash: block.hash,
      lastValidBlockHeight: view.ledger.blocks.lastValidHeight(block),
    };
    return view.context(block, {
      ...answerOf(result),
      accounts,
      innerInstructions: flagIn(options['innerInstructions']) ? result.inner : null,
      replacementBlockhash: replaces ? replacement : null,
    });
  },
  getFeeForMessage(view, params) {
    const message = messageIn(textAt(params, 0));
    const block = view.block(params[1]);
    return view.context(block, view.ledger.isAlive(message, block) ? feeOf(message) : null);
  },
  getSignatureStatuses(view, params) {
    const signatures = textsAt(params, 0);
    if (signatures.length > MAX_SIGNATURES) throw invalidParams(`Too many inputs provided; max ${MAX_SIGNATURES}`);
    for (const signature of signatures) signatureIn(signature);
    const searches = flagIn(fields(params[1])['searchTransactionHistory']);
    const newest = view.newest('processed');
    return view.context(
      newest,
      signatures.map((signature) => statusOf(view, signature, searches)),
    );
  },
  getRecentPrioritizationFees(view, params) {
    const keys = params.length === 0 ? [] : textsAt(params, 0).map(keyIn);
    if (keys.length > MAX_LOCKS) throw invalidParams(`Too many inputs provided; max ${MAX_LOCKS}`);
    const { blocks, prioritizationFees: known } = view.ledger;
    const prioritizationFee = Math.max(...[undefined, ...keys].map((key) => known.get(key) ?? 0));
    return blocks
      .latest(FEE_SLOTS)
      .reverse()
      .map(({ slot }) => ({ slot, prioritizationFee }));
  },
  requestAirdrop(view, params) {
    const key = keyIn(textAt(params, 0));
    const lamports = numberIn(params[1], 'u64');
    if (lamports === undefined) throw invalidParams('`params` should have at least 2 argument(s)');
    return view.ledger.requestAirdrop(key, BigInt(lamports));
  },
};

function preflight(view: NodeView, transaction: WireTransaction, block: Block): void {
  mustBeSigned(view, transaction);
  view.mustBeWell();
  const result = simulate(view, transaction, block, false);
  if (result.err === null) return;
  const data = { ...answerOf(result), accounts: null, innerInstructions: null, replacementBlockhash: null };
  throw new RpcError(CODES.preflight, `Transaction simulation failed: ${textOf(result.err)}`, data);
}

function mustBeSigned({ ledger }: NodeView, transaction: WireTransaction): void {
  if (!ledger.isSigned(transaction)) throw new RpcError(CODES.signatures, 'Transaction signature verification failure');
}

function simulate({ ledger }: NodeView, transaction: WireTransaction, block: Block, anyHash: boolean): Simulated {
  const err = anyHash ? null : ledger.admission(transaction, block);
  if (err === null) return ledger.simulate(transaction, block);
  return { err, logs: [], unitsConsumed: 0, inner: [], returnData: null, accounts: new Map() };
}

function answerOf({ err, logs, unitsConsumed, returnData }: Simulated) {
  return { err, logs, unitsConsumed, returnData };
}

function accountsAfter({ ledger }: NodeView, block: Block, result: Simulated, asked: Fields) {
  if (asked['addresses'] === undefined) return null;
  const addresses = textsAt([asked['addresses']], 0);
  if (asked['encoding'] === 'base58' || asked['encoding'] === 'binary') {
    throw invalidParams('base58 encoding not supported');
  }
  const read = (key: string) => result.accounts.get(key) ?? ledger.accounts.at(key, block.height);
  return addresses.map((address) => {
    const account = read(keyIn(address));
    if (result.err !== null || account === null) return null;
    return accountAnswer(account, { encoding: 'base64', ...asked }, read);
  });
}

function statusOf(view: NodeView, signature: string, searches: boolean) {
  const landed = view.landed(signature, searches);
  if (landed === undefined) return null;
  const { err } = landed.outcome;
  const confirmationStatus = view.commitmentOf(landed.block);
  return {
    slot: landed.block.slot,
    confirmations: confirmationStatus === 'finalized' ? null : view.newest('processed').height - landed.block.height,
    status: err === null ? { Ok: null } : { Err: err },
    err,
    confirmationStatus,
  };
}
