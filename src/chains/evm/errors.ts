import { AppError } from '../../domain/errors.ts';
import { RpcError } from '../../egress/rpc-client.ts';
import type { BroadcastOutcome } from '../chain.ts';

/**
 * What the nodes say, and what it means. Each pattern names where its text is made; texts that two nodes share stand
 * once. Order matters: the first hit wins.
 */
type Meaning = 'accepted' | 'sequence-used' | 'sequence-ahead' | 'underpriced' | 'refused';

const BROADCAST_TEXTS: readonly (readonly [Meaning, RegExp])[] = [
  // geth core/txpool/errors.go ErrAlreadyKnown, erigon, nethermind TxPoolErrorMessages, reth, besu ("Known
  // transaction"), openethereum ("same hash was already imported"), anvil eth/pool ("[hash] Already imported"),
  // erigon txpoolcfg ("existing tx with same hash"), Cosmos mempools ("tx already exists in cache").
  [
    'accepted',
    /already known|already.?imported|(?<!un)known transaction|existing tx with same hash|already exists in cache/i,
  ],
  ['accepted', /^AlreadyKnown\b/],
  // geth core/error.go ErrNonceTooLow and all its kin; openethereum ("nonce is too low"); nethermind ("OldNonce").
  ['sequence-used', /nonce (is )?too low|^OldNonce\b/i],
  // geth core/error.go ErrNonceTooHigh, nitro, zkSync ("nonce too high"); besu ("nonce is too distant");
  // nethermind ("nonce too far in the future", "NonceGap"); frontier and Cosmos kin ("exceeds next nonce",
  // "nonce out of range").
  [
    'sequence-ahead',
    /nonce (is )?too (high|distant)|too far in the future|exceeds next nonce|nonce out of range|tx-nonce-too-high|^NonceGap\b|invalid transaction with a lower nonce/i,
  ],
  // geth core/txpool/errors.go ErrReplaceUnderpriced, nethermind, besu, reth; anvil eth/pool/error.rs and
  // substrate-born pools ("insufficient gas price to replace existing transaction", "Priority is too low");
  // erigon txpoolcfg ("could not replace existing tx"); openethereum ("another transaction with same nonce").
  [
    'underpriced',
    /replacement transaction underpriced|to replace existing|could not (be replaced|replace existing)|another transaction with same nonce|ReplacementNotAllowed/i,
  ],
  // geth core/error.go and core/txpool/errors.go; anvil eth/error.rs; nethermind AcceptTxResult; besu
  // TransactionInvalidReason.
  [
    'refused',
    /insufficient funds|insufficientfunds|upfront cost exceeds|intrinsic gas too low|gas too low|exceeds block gas limit|gaslimitexceeded|exceeds the configured cap|transaction underpriced|feetoolow|fee too low|gas price below|less than block base fee|higher than max fee|oversized data|invalid sender|invalid chain|wrong chain|invalid signature|type not supported|replay-protected|sender not an eoa|senderiscontract|init ?code size|nonce has max value|tx ?pool is full|negative value|rlp:/i,
  ],
];

/**
 * What a failed `eth_sendRawTransaction` means. A text that nobody knows says nothing: the node may have the bytes.
 */
export function broadcastFailure(error: RpcError): BroadcastOutcome {
  const reason = error.message;
  if (error.kind !== 'node') return { kind: 'unknown', reason };
  const kind = BROADCAST_TEXTS.find(([, pattern]) => pattern.test(reason))?.[0] ?? 'unknown';
  return kind === 'accepted' ? { kind } : { kind, reason };
}

/** Runs what needs a node, and gives its failures the service's form. */
export async function withProvider<T>(network: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    throw error instanceof RpcError ? providerFailed(network, error.message, error) : error;
  }
}

/** The endpoints of a network cannot be used, and why. */
export function providerFailed(network: string, reason: string, cause?: unknown): AppError<'PROVIDER_FAILED'> {
  return new AppError('PROVIDER_FAILED', { network, reason }, { cause });
}
