import type { Json } from '../../domain/json/json.ts';
import { printable } from '../../domain/printable.ts';
import { RpcError } from '../../egress/rpc/rpc-client.ts';
import { judgeRpcFailure } from '../../egress/rpc/rpc-verdict.ts';
import type { OfferVerdict } from '../broadcasting.ts';
import type { BroadcastOutcome } from '../chain-client.ts';
import { rpcDialect } from './rpc-error-dialect.ts';

/** `absent`: the endpoint has not looked at the bytes, or is not the right one to ask. */
type Meaning = BroadcastOutcome['kind'] | 'absent';

/**
 * The meaning of the nodes' error texts. The first match wins, so a text that contains another text stands above it.
 * The corpus of the tests has a real example for each pattern and says where each text is made.
 */
const BROADCAST_TEXTS: readonly (readonly [Meaning, readonly RegExp[]])[] = [
  // A node has these very bytes. "unknown transaction" and "block already known" are other matters.
  [
    'accepted',
    [
      /(?<!block )already.?known|already.?imported|(?<!un)known transaction/i,
      /existing txn? with same hash|\btx already exists?\b|tx already in mempool|was added to the mempool/i,
    ],
  ],
  // zkSync runs the account's own checks first and quotes their texts. So its own words are matched before quoted ones.
  ['unfunded', [/reason: Validation revert: .*(failed to pay (for the transaction|the fee)|failed to charge fee)/i]],
  ['refused', [/failed to validate the transaction\. reason:/i]],
  // This text is about an authorisation inside the bytes (EIP-7702), not about the nonce of the bytes.
  ['refused', [/authority nonce too low/i]],
  [
    'anchor-used',
    [
      /\bnonce (for account )?(is )?too low|too stale nonce|\bOldNonce\b|nonce is lower than account nonce/i,
      /Pool\(Stale\)|InvalidTransaction::Stale|transaction already finalized|^(\w+: )?mined$/i,
    ],
  ],
  [
    'anchor-ahead',
    [
      /\bnonce (is )?too (high|distant|far in)|\bNonceGap\b|NonceTooFarInFuture|nonce is higher than account nonce/i,
      /exceeds next nonce|nonce out of range|tx-nonce-too-high|InvalidTransaction::Future|too distant future/i,
      /invalid transaction with a lower nonce|gapped-nonce tx|delegation nonce gap/i,
    ],
  ],
  [
    'underpriced',
    [
      /replacement transaction underpriced|to replace (existing|it, you need)|could not (be replaced|replace existing)/i,
      /already in mpool|replace by fee has too low/i,
      /another (transaction|tx)( which has)?( with)?( the)? same nonce in the (queue|tx pool)/i,
      /ReplacementNotAllowed|TooLowPriority|OwnNonceAlreadyUsed|replaced by transaction with higher tip/i,
      /can't replace blob-txn/i,
    ],
  ],
  [
    'unfunded',
    [
      /insufficient funds|InsufficientFunds|insufficient balance|not enough funds|not enough balance to cover/i,
      /enough funds to send tx|upfront cost exceeds|overdraws from account|would cause overdraft/i,
      // Monad keeps a reserve of each account's money: https://docs.monad.xyz, "Reserve Balance".
      /InvalidTransaction::Payment|INSUFFICIENT_PAYER_BALANCE|reserve balance violation/i,
      /not have enough balance|due to out of balance/i,
    ],
  ],
  // No room or no time. "account limit exceeded" and the like pass when the account's other transactions are mined.
  [
    'busy',
    [
      /pool is full|mempool is full|pool full\b|\bqueue full|too many transactions in the queue|ImmediatelyDropped/i,
      /pool size constraints|account limit exceeded|reached the tx limit in the txpool|\bspammer\b|L2 congestion/i,
      /tx dropped due to|limit reached for delegated|TemporarilyBanned|tries to replace pending/i,
      /(address|authority) already reserved|type conflict|delegation authority has pending/i,
      /insertion of another transaction with the same nonce/i,
    ],
  ],
  // Everything that we sign names its chain. A node that says otherwise serves another chain, so it has no say.
  ['absent', [/(invalid|wrong) chain ?id|chain ?id not supported|signed for another chain/i]],
  [
    'absent',
    [
      /rate.?limit|rate exceeded|too many requests|compute units|request (limit reached|count exceeded)/i,
      /(capacity|quota|credits?) (limit )?exceeded|out of (credits|requests)/i,
      /node is syncing|still syncing|sync is still in progress|transaction pool not enabled|shutting down/i,
      /temporarily (not available|unavailable)|service unavailable|unauthorized|authenticate your request/i,
      /method not (found|enabled|supported)|does not exist.is not available|method .* does not exist/i,
    ],
  ],
  [
    'fee-too-low',
    [
      /\bunderpriced\b|fee ?too ?low|FeePerGas too low|gas ?price .{0,80}(too low|below)|gas price too low|unacceptable gas price/i,
      /less than block base fee|below (current|chain|the minimum|minimum|configured minimum|current blob)/i,
      /too low for the next block|insufficient fees?\b|provided fee < minimum|less than block blob gas fee/i,
    ],
  ],
  [
    'refused',
    [
      /intrinsic ?gas|(?<!\bout of )\bgas (is |limit )?too (low|high)|gas limit (is )?too (low|high)|not enough gas to/i,
      /exceeds (the )?(block('s)? )?gas limit|block gas limit|GasLimitExceeded|gas limit reached|current gas limit/i,
      /gas is beyond limit|max(imum)? transaction gas limit|floor data gas|gas ?uint(64)? ?overflow|ExhaustsResources/i,
      /Int256Overflow|transaction cost overflow|2\^(64|256)-1|higher than max (fee|priority)|exceeds max fee/i,
      /invalid gas fee cap|exceeds the configured cap|fee cap exceeded|nonce has max value|negative value/i,
      /oversized data|init.?code.?(size|too)|too (large|big)\b|RLPTooLong|data too large/i,
      /invalid sender|invalid( transaction)? signature|INVALID_SIGNATURE|recover sender|FailedToResolveSender/i,
      /chain ?id is required|replay-protected/i,
      /(transaction )?type not supported|unsupported transaction type|invalid transaction type|type is not activated/i,
      /(sender|signer) (is )?not an eoa|SenderIsContract|authorization (list|tuple)|invalid fee input/i,
      // Linea: what its prover has no room for (`linea_estimateGas`, module limits) never gets into a block.
      /line count|module .{0,40}above the limit/i,
      /banned in local queue|is not permitted|not authorized to send|(blocked|forbidden) sender|in blacklist/i,
      /not in the allow list|marked the transaction as invalid|out of counters|counters to continue/i,
      /rlp:|invalid rlp|decode (signed )?transaction|transaction data|typed transaction|serialize transaction/i,
      /factory dependencies|^(call failed: )?(transaction )?invalid(,|$)|cannot unmarshal|(fee|gas) currency/i,
    ],
  ],
];

/**
 * From here on, the text is a contract's own, and it may say anything. A call that reverts now says nothing about the
 * bytes: the state can change, and hardhat answers so after it has mined them.
 */
const CONTRACT_SPEAKS = /execution reverted|reverted with |VM Exception while|VM execution error|transaction reverted/i;

/**
 * How nodes say of a call that they executed it and that it fails, also with all the gas that a block has. Every other
 * failure of an estimate says nothing about the call.
 */
const CALL_FAILS = [
  CONTRACT_SPEAKS,
  /reverted?\b|CONTRACT_REVERT|always failing|gas required exceeds|requires higher than upper limit/i,
  /out of gas|OutOfGas|gas spent exceeded|execution failed due to an exception|transaction execution fails/i,
  /(invalid|bad|undefined) (opcode|instruction)|OpcodeNotFound|invalid jump|InvalidJump|stack (under|over)flow/i,
  /write protection|StateChangeDuringStaticCall|(init|contract )?code size|contract address collision/i,
];

/** Chains of the Cosmos family use one text for a nonce that is too low or too high, and give both figures in it. */
const FIGURES = [
  /invalid nonce; got (?<got>\d+), (should be )?expected (?<expected>\d+)/i,
  /sequence mismatch, expected (?<expected>\d+), got (?<got>\d+)/i,
];

/** Refusals of a gas limit, which the service chose unless the request gave it. `FeePerGas too low` is about the price. */
const GAS_TOO_LOW =
  /intrinsic ?gas(?!.{0,20}too high)|(?<!\bout of )\bgas (is |limit )?too low|gas limit (is )?too low|not enough gas to|floor data gas/i;
const GAS_TOO_HIGH =
  /\bgas (limit )?(is )?too high|exceeds (the )?(block('s)? )?gas limit|block gas limit|GasLimitExceeded|gas limit reached|current gas limit|gas is beyond limit|max(imum)? transaction gas limit|gas_limit_cap|GasLimitCap|gas limit.{0,40}greater than/i;

/**
 * The tip or price below which a node takes nothing (geth core/txpool/validation.go: `minimum needed 25000000000`), or
 * below which it replaces nothing (Lotus chain/messagepool, Conflux).
 */
const MIN_PRICE: readonly RegExp[] = [
  /(?:minimum needed|minimum required|required|at least):? (\d{1,39})\b/i,
  /(?:minimum gas price:? '?|FeePerGas too low \d{1,39} < |a gas price > |increase GasPremium to )(\d{1,39})\b/i,
];

/** What a node's refusal says of the gas limit of the bytes; undefined if it is about something else. */
export function gasLimitRefusal(reason: string): 'too low' | 'too high' | undefined {
  if (GAS_TOO_LOW.test(reason)) return 'too low';
  return GAS_TOO_HIGH.test(reason) ? 'too high' : undefined;
}

/** The highest figure in a refusal that is below the refused gas limit: the most that the node takes. */
export function gasCapInRefusal(reason: string, refused: bigint): bigint | undefined {
  const figures = [...reason.matchAll(/\b\d{5,18}\b/g)].map(([figure]) => BigInt(figure));
  return figures.filter((figure) => figure < refused).reduce<bigint | undefined>(higher, undefined);
}

/** The least price, in wei per gas, that a refusal names. */
export function gasPriceInRefusal(reason: string): bigint | undefined {
  const figure = MIN_PRICE.map((pattern) => pattern.exec(reason)?.[1]).find((named) => named !== undefined);
  return figure === undefined || gasLimitRefusal(reason) !== undefined ? undefined : BigInt(figure);
}

function higher(one: bigint | undefined, other: bigint): bigint {
  return one === undefined || other > one ? other : one;
}

/** How many characters of a text are read, and shown. No node has more to say. */
const MAX_TEXT = 2_000;
const MAX_REASON = 500;

/** What a failed `eth_sendRawTransaction` means. An unknown text says nothing: the node may have the bytes. */
export function classifyBroadcastError(error: RpcError): OfferVerdict {
  const reason = printable(error.message, MAX_REASON);
  // The endpoint turned the request away without reading it. After any other failure without an answer, it may have
  // read it.
  if (error.kind === 'limited' || (error.kind === 'http' && error.status === 429))
    return { outcome: { kind: 'busy', reason }, hasJudged: false };
  if (error.kind !== 'node') return { outcome: { kind: 'unknown', reason }, hasJudged: false };
  for (const text of textsOf(error)) {
    const kind = meaningOf(text);
    if (kind !== 'unknown') return verdict(kind, printable(text, MAX_REASON));
  }
  if (error.code === 429 || error.code === -32_601) return verdict('absent', reason);
  // Trouble of the node is told from words about the bytes, as far as gateways' texts are known, wherever they stand.
  const isPermanent = (text: string) => judgeRpcFailure(withText(error, text), rpcDialect).meaning === 'permanent';
  const isClear = textsOf(error).every(isPermanent);
  return { outcome: { kind: 'unknown', reason, isClear }, hasJudged: true };
}

/**
 * What a failed `eth_estimateGas` says of the call: that it fails, or that the account cannot pay for it now. Undefined
 * for everything else: the estimate is not known yet.
 */
export function classifyEstimateError(error: RpcError): 'fails' | 'unfunded' | undefined {
  if (error.kind !== 'node') return undefined;
  const texts = textsOf(error);
  // Code 3 is geth's for a revert, and nobody else uses it.
  if (error.code === 3 || texts.some((text) => CALL_FAILS.some((pattern) => pattern.test(text)))) return 'fails';
  return texts.some((text) => meaningOf(text) === 'unfunded') ? 'unfunded' : undefined;
}

function verdict(meaning: Meaning, reason: string): OfferVerdict {
  if (meaning === 'accepted') return { outcome: { kind: 'accepted' }, hasJudged: true };
  if (meaning === 'absent') return { outcome: { kind: 'busy', reason }, hasJudged: false };
  const isFigure = meaning === 'refused' && gasLimitRefusal(reason) !== undefined;
  return { outcome: isFigure ? { kind: 'refused', reason, isFigure } : { kind: meaning, reason }, hasJudged: true };
}

/** The node's own text, then those of the errors that a gateway or a framework wrapped in it. */
function textsOf({ message, data }: RpcError): string[] {
  const texts = [message];
  let inner: Json | undefined = data;
  for (let depth = 0; depth < 4; depth += 1) {
    if (typeof inner === 'string') texts.push(inner);
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) break;
    const message: Json | undefined = inner['message'];
    if (typeof message === 'string') texts.push(message);
    inner = inner['data'] ?? inner['originalError'] ?? inner['error'];
  }
  return texts.map((text) => text.slice(0, MAX_TEXT));
}

function withText({ code, status }: RpcError, text: string): RpcError {
  return new RpcError('node', text, { ...(code !== undefined && { code }), ...(status !== undefined && { status }) });
}

function meaningOf(text: string): Meaning {
  const contract = CONTRACT_SPEAKS.exec(text);
  const judged = contract === null ? text : text.slice(0, contract.index);
  for (const pattern of FIGURES) {
    const { got, expected } = pattern.exec(judged)?.groups ?? {};
    if (got === undefined || expected === undefined || got === expected) continue;
    return BigInt(got) < BigInt(expected) ? 'anchor-used' : 'anchor-ahead';
  }
  return BROADCAST_TEXTS.find(([, patterns]) => patterns.some((pattern) => pattern.test(judged)))?.[0] ?? 'unknown';
}
