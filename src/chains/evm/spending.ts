import { hash } from 'node:crypto';
import { amountOf } from '../../domain/amount.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import type { ActualSpend, RequestedSpend } from '../../features/plugins/records/spending.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import type { ChainSpending } from '../chain.ts';
import { isAddress, normalAddress } from './address.ts';
import { callData } from './price/gas-amount.ts';
import { readChainFields, readStoredRequest } from './schema.ts';

/** What a call without data is written as. */
const NO_CALL = '0x';
const SELECTOR_BYTES = 4;

/**
 * What a request moves, as far as the chain itself moves it. Recipient and selector are the only signs of what the
 * called contract does with the relayer's tokens or allowances. An access list only makes reads dearer. An
 * authorization list (EIP-7702) changes accounts beside the recipient.
 */
function spendOf(request: JsonObject): RequestedSpend {
  const { to, value, data, gasLimit, price, authorizationList } = readStoredRequest(request);
  const call = callData(data);
  const perGas = price.kind === 'speed' ? null : price.kind === 'legacy' ? price.gasPrice : price.maxFeePerGas;
  const selector = to === null ? null : `0x${Buffer.from(call.subarray(0, SELECTOR_BYTES)).toString('hex')}`;
  const tokenMethod = TOKEN_METHODS.get(selector ?? '');
  return {
    recipient: to === null ? null : normalAddress(to),
    selector,
    value,
    fee: gasLimit === null || perGas === null ? null : gasLimit * perGas,
    beyond: authorizationList.length === 0 ? null : 'an authorization_list, which acts on other accounts',
    ...(tokenMethod === undefined ? {} : { tokenMethod }),
  };
}

/**
 * What a final transaction took. It took nothing if no attempt got into a block, and no value if the attempt in the
 * block reverted or was the empty one. A rollup's data fee counts as estimated, since not all receipts show it.
 */
function spentBy({ request, fields }: Pick<Transaction, 'request' | 'fields'>): ActualSpend {
  const known = readChainFields(fields);
  const receipt = known?.receipt;
  if (known === undefined || receipt === undefined) return { value: 0n, fee: 0n };
  const perGas = receipt.effective_gas_price ?? known.max_fee_per_gas ?? known.gas_price ?? 0;
  const gas = amountOf(receipt.gas_used ?? known.gas_limit) * amountOf(perGas);
  return {
    value: receipt.succeeded ? readStoredRequest(request).value : 0n,
    fee: gas + amountOf(known.data_fee ?? 0),
  };
}

/** An address in the one form in which addresses are compared. */
function recipientOf(text: string): string | undefined {
  return isAddress(text) ? normalAddress(text) : undefined;
}

const NAME = '[A-Za-z_$][A-Za-z0-9_$]*';
/** Elementary types and tuples of them, with array lengths; the canonical form has no spaces and no names. */
const SIGNATURE = new RegExp(`^${NAME}\\([a-z0-9,()\\[\\]]*\\)$`);
const ALIAS = /(^|[(,])(uint|int|fixed|ufixed|byte)(?=[,)[]|$)/;

/**
 * A selector as four bytes in hexadecimal, or the signature of its function in canonical form (Contract ABI,
 * "Function Selector"): `transfer(address,uint256)`. `0x` stands for a call without data.
 */
function selectorOf(text: string): string | undefined {
  if (/^0x([0-9a-fA-F]{8})?$/.test(text)) return text === NO_CALL ? NO_CALL : text.toLowerCase();
  if (!SIGNATURE.test(text) || !isBalanced(text) || ALIAS.test(text.slice(text.indexOf('(')))) return undefined;
  return `0x${hash('keccak-256', text, 'hex').slice(0, 2 * SELECTOR_BYTES)}`;
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const letter of text) {
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/**
 * Methods that move tokens of the account, or let others move them. ERC-20 and its extensions 223, 677, 777, 1363, 2612
 * (also of DAI and with signatures of contracts), 3009 and 4626; ERC-721, ERC-1155 and Permit2.
 */
const TOKEN_METHODS: ReadonlyMap<string, string> = new Map(
  [
    'transfer(address,uint256)',
    'transfer(address,uint256,bytes)',
    'approve(address,uint256)',
    'transferFrom(address,address,uint256)',
    'increaseAllowance(address,uint256)',
    'increaseApproval(address,uint256)',
    'burn(uint256)',
    'burn(uint256,bytes)',
    'burn(address,uint256,uint256)',
    'burnFrom(address,uint256)',
    'transferAndCall(address,uint256)',
    'transferAndCall(address,uint256,bytes)',
    'transferFromAndCall(address,address,uint256)',
    'transferFromAndCall(address,address,uint256,bytes)',
    'approveAndCall(address,uint256)',
    'approveAndCall(address,uint256,bytes)',
    'send(address,uint256,bytes)',
    'authorizeOperator(address)',
    'operatorSend(address,address,uint256,bytes,bytes)',
    'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
    'permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)',
    'permit(address,address,uint256,uint256,bytes)',
    'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
    'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
    'receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
    'receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
    'withdraw(uint256,address,address)',
    'redeem(uint256,address,address)',
    'deposit(uint256,address)',
    'mint(uint256,address)',
    'safeTransferFrom(address,address,uint256)',
    'safeTransferFrom(address,address,uint256,bytes)',
    'safeTransferFrom(address,address,uint256,uint256,bytes)',
    'safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)',
    'setApprovalForAll(address,bool)',
    'approve(address,address,uint160,uint48)',
    'transferFrom(address,address,uint160,address)',
  ].map((signature) => [selectorOf(signature) ?? '', signature]),
);

/** How plugins' limits apply to requests, and how operators name what they allow. */
export const chainSpending: ChainSpending = {
  spendOf,
  spentBy,
  recipient: { read: recipientOf, expected: 'an account of a network of type evm' },
  selector: { read: selectorOf, expected: 'a function, as 0xa9059cbb or transfer(address,uint256), or 0x' },
  withoutRecipient: 'the creation of a contract',
};
