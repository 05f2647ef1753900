import type { LocalRpcMethod } from '../chain-client.ts';

/** The methods that the relayer answers itself, instead of a node: the reference's gasless ones. */
export const LOCAL_RPC_METHODS: ReadonlyMap<string, LocalRpcMethod['kind']> = new Map([
  ['feeEstimate', 'answer'],
  ['prepareTransaction', 'sign'],
  ['transferTransaction', 'sign'],
  ['signTransaction', 'sign'],
  ['signAndSendTransaction', 'send'],
  ['getSupportedTokens', 'answer'],
  ['getFeaturesEnabled', 'answer'],
  // The name of the same method in the reference's documentation.
  ['getSupportedFeatures', 'answer'],
]);

/**
 * The methods of Solana's nodes that only read. Any other method may have an effect: it is sent to one endpoint once,
 * and a plugin whose sending is limited may not call it.
 */
const READS: ReadonlySet<string> = new Set(
  `getAccountInfo getBalance getBlock getBlockCommitment getBlockHeight getBlockProduction getBlockTime getBlocks
   getBlocksWithLimit getClusterNodes getEpochInfo getEpochSchedule getFeeForMessage getFirstAvailableBlock
   getGenesisHash getHealth getHighestSnapshotSlot getIdentity getInflationGovernor getInflationRate
   getInflationReward getLargestAccounts getLatestBlockhash getLeaderSchedule getMaxRetransmitSlot
   getMaxShredInsertSlot getMinimumBalanceForRentExemption getMultipleAccounts getProgramAccounts
   getRecentPerformanceSamples getRecentPrioritizationFees getSignatureStatuses getSignaturesForAddress getSlot
   getSlotLeader getSlotLeaders getStakeMinimumDelegation getSupply getTokenAccountBalance
   getTokenAccountsByDelegate getTokenAccountsByOwner getTokenLargestAccounts getTokenSupply getTransaction
   getTransactionCount getVersion getVoteAccounts isBlockhashValid minimumLedgerSlot simulateTransaction`.split(/\s+/),
);

/** Whether a method is known to do nothing but read, so that it may be asked twice. */
export function isReadMethod(method: string): boolean {
  return READS.has(method);
}

/** Whether a method takes bytes that are signed already. */
export function takesSignedBytes(method: string): boolean {
  return method === 'sendTransaction';
}
