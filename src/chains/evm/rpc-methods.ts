/**
 * The methods of Ethereum's nodes that only read. Any other method may have an effect: it is offered to one endpoint
 * once, and a plugin whose sending is limited may not call it. A method's name says little about its effect: nodes of
 * every kind have methods of their own that move money, unlock accounts or set the chain back.
 */
const READS: ReadonlySet<string> = new Set(
  `eth_accounts eth_blobBaseFee eth_blockNumber eth_call eth_callMany eth_chainId eth_coinbase eth_createAccessList
   eth_estimateGas eth_feeHistory eth_gasPrice eth_getAccount eth_getBalance eth_getBlockByHash eth_getBlockByNumber
   eth_getBlockReceipts eth_getBlockTransactionCountByHash eth_getBlockTransactionCountByNumber eth_getCode
   eth_getFilterChanges eth_getFilterLogs eth_getHeaderByHash eth_getHeaderByNumber eth_getLogs eth_getProof
   eth_getRawTransactionByBlockHashAndIndex eth_getRawTransactionByBlockNumberAndIndex eth_getRawTransactionByHash
   eth_getStorageAt eth_getTransactionByBlockHashAndIndex eth_getTransactionByBlockNumberAndIndex
   eth_getTransactionByHash eth_getTransactionBySenderAndNonce eth_getTransactionCount eth_getTransactionReceipt
   eth_getUncleByBlockHashAndIndex eth_getUncleByBlockNumberAndIndex eth_getUncleCountByBlockHash
   eth_getUncleCountByBlockNumber eth_maxPriorityFeePerGas eth_protocolVersion eth_simulateV1 eth_syncing
   net_listening net_peerCount net_version web3_clientVersion web3_sha3 rpc_modules
   txpool_content txpool_contentFrom txpool_inspect txpool_status
   debug_getRawBlock debug_getRawHeader debug_getRawReceipts debug_getRawTransaction debug_storageRangeAt
   debug_traceBlockByHash debug_traceBlockByNumber debug_traceCall debug_traceCallMany debug_traceTransaction
   trace_block trace_call trace_callMany trace_filter trace_get trace_rawTransaction trace_replayBlockTransactions
   trace_replayTransaction trace_transaction
   zks_estimateFee zks_estimateGasL1ToL2 zks_getBlockDetails zks_getTransactionDetails zks_L1BatchNumber zks_L1ChainId
   zkevm_batchNumber zkevm_estimateFee zkevm_estimateGasPrice linea_estimateGas`.split(/\s+/),
);

/** Whether a method is known to do nothing but read, so that it may be called twice. */
export function isReadMethod(method: string): boolean {
  return READS.has(method);
}

/** Whether a method takes bytes that are signed already. */
export function takesSignedBytes(method: string): boolean {
  return method.startsWith('eth_sendRawTransaction');
}
