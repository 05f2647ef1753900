/** What the functions of `context.api` take and answer, and that of each network. The names are those of the public SDK. */
import type { Speed } from './names.ts';

/** Any value that JSON can represent. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** The state of a transaction. A `wait` ends at `mined`, `confirmed`, `canceled`, `expired` or `failed`. */
export type TransactionState =
  | 'canceled'
  | 'pending'
  | 'sent'
  | 'submitted'
  | 'mined'
  | 'confirmed'
  | 'failed'
  | 'expired';

/** A transaction, with the fields of its network. On EVM, values that do not exist yet are null. */
export interface TransactionResponse {
  /** The transaction's id in this service. Pass it to `getTransaction`. */
  id: string;
  /** The transaction's state. */
  status: TransactionState;
  /** The transaction's hash on the chain; null until the transaction has one. On Solana, read `signature` instead. */
  hash?: string | null;
  /** Why the transaction waits, or why it failed. */
  status_reason?: string | null;
  /** When the service accepted the transaction. All times are ISO 8601 text. */
  created_at: string;
  /** When the service sent the transaction to the network. */
  sent_at?: string | null;
  /** When the transaction was confirmed. */
  confirmed_at?: string | null;
  /** The id of the relayer that sends the transaction. Absent on Solana. */
  relayer_id?: string;
  /** Further fields of the network: `nonce`, `gas_limit`, `value` and so on. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the other fields depend on the network
  [field: string]: any;
}

/** Options of `wait` and `transactionWait`. */
export interface WaitOptions {
  /** Milliseconds between two checks of the transaction. Default: 5000. */
  interval?: number;
  /** Milliseconds until `wait` rejects with a PluginError of status 504. Default: 60000. */
  timeout?: number;
  /** `confirmed`: resolves when the transaction is final, or has ended. Default: `mined`. */
  until?: 'mined' | 'confirmed';
}

/** The accepted transaction, as `sendTransaction` returns it. */
export interface SentTransaction extends TransactionResponse {
  /**
   * Resolves when the transaction is in a block or has ended. It resolves after a failure, too, so check `status`.
   * `mined`: the transaction is in a block and succeeded. `failed`: the transaction failed, which is reported as soon
   * as a block shows a revert. A chain reorganisation can still change both until the transaction is final. Rejects
   * with a PluginError of status 504 after `timeout`.
   */
  wait(options?: WaitOptions): Promise<TransactionResponse>;
}

/** The settings of a relayer. */
export interface RelayerInfo {
  /** The relayer's id. Pass it to `useRelayer`. */
  id: string;
  /** A name for people to read. */
  name: string;
  /** The name of the relayer's network, for instance `sepolia`. */
  network: string;
  /** The kind of the relayer's network. */
  network_type: 'evm' | 'solana' | 'stellar';
  /** Whether an operator has paused the relayer. */
  paused: boolean;
  /** The id of the signer that signs the relayer's transactions. */
  signer_id: string;
  /** The address of the relayer's account. */
  address: string;
  /** Whether the service has disabled the relayer, because its checks fail or its network was not reached yet. */
  system_disabled: boolean;
  /** Further settings, for instance `policies`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the policies depend on the network
  [field: string]: any;
}

/**
 * The balance and the pending transactions of a relayer. EVM adds `nonce`, Stellar adds `sequence_number`. A value that
 * is not known at the moment is null.
 */
export interface RelayerStatus {
  /** The kind of the relayer's network. */
  network_type: 'evm' | 'solana' | 'stellar';
  /** The account's balance in the network's smallest unit (wei, lamports, stroops), as decimal digits. */
  balance: string | null;
  /** The number of transactions that have not ended. */
  pending_transactions_count: number;
  /** When the relayer's last confirmed transaction was confirmed. */
  last_confirmed_transaction_timestamp?: string | null;
  /** Whether the service has disabled the relayer, because its checks fail or its network was not reached yet. */
  system_disabled: boolean;
  /** Whether an operator has paused the relayer. */
  paused: boolean;
  /** Further fields of the network: `nonce` or `sequence_number`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the other fields depend on the network
  [field: string]: any;
}

/** A JSON-RPC request to a node of the relayer's network. */
export interface JsonRpcRequest {
  /** The JSON-RPC method, for instance `eth_call`. The plugin's grants and limits decide which methods are allowed. */
  method: string;
  /** The method's parameters: a list or an object, depending on the method. */
  params?: unknown;
  /** The answer has the same id. */
  id?: string | number | null;
  /** `2.0`. May be left out. */
  jsonrpc?: string;
}

/** The node's JSON-RPC answer. It has either `result` or `error`. */
export interface JsonRpcResponse {
  /** Always `2.0`. */
  jsonrpc: string;
  /** The id of the request. */
  id?: string | number | null;
  /** The result of a successful call. */
  // oxlint-disable-next-line typescript/no-explicit-any -- depends on the method that was called
  result?: any;
  /** The error of a failed call. */
  // oxlint-disable-next-line typescript/no-explicit-any -- depends on the method that was called
  error?: { code: number; message: string; description?: string; data?: any };
}

export interface EvmTransactionRequest {
  to?: string;
  /** The amount in wei, as a safe integer or as decimal digits. */
  value: number | string;
  data?: string;
  gas_limit?: number | null;
  gas_price?: number | string;
  max_fee_per_gas?: number | string;
  max_priority_fee_per_gas?: number | string;
  speed?: Speed;
  /** A time in ISO 8601. */
  valid_until?: string;
}

export interface SolanaAccountMeta {
  pubkey: string;
  is_signer: boolean;
  is_writable: boolean;
}

export interface SolanaInstructionSpec {
  program_id: string;
  accounts: SolanaAccountMeta[];
  /** Base64. */
  data: string;
}

export interface SolanaTransactionRequest {
  /** The whole transaction in base64. Without it, give `instructions`. */
  transaction?: string;
  instructions?: SolanaInstructionSpec[] | null;
  valid_until?: string | null;
}

interface Words128 {
  hi: string;
  lo: string;
}
interface Words256 {
  hi_hi: string;
  hi_lo: string;
  lo_hi: string;
  lo_lo: string;
}

/** A value that a Stellar contract takes or returns. */
export type ScVal =
  | { bool: boolean }
  | { u32: number }
  | { i32: number }
  | { u64: string }
  | { i64: string }
  | { u128: Words128 }
  | { i128: Words128 }
  | { u256: Words256 }
  | { i256: Words256 }
  | { string: string }
  | { symbol: string }
  | { address: string }
  | { bytes: string }
  | { vec: ScVal[] }
  | { map: { key: ScVal; val: ScVal }[] };

export type StellarAssetSpec =
  | { type: 'native' }
  | { type: 'credit_alphanum4'; code: string; issuer: string }
  | { type: 'credit_alphanum12'; code: string; issuer: string };
export type StellarAuthSpec =
  | { type: 'none' }
  | { type: 'source_account' }
  | { type: 'addresses'; signers: string[] }
  | { type: 'xdr'; entries: string[] };
export type StellarMemoSpec =
  | { type: 'none' }
  | { type: 'text'; value: string }
  | { type: 'id'; value: string }
  | { type: 'hash'; value: string }
  | { type: 'return'; value: string };
export type StellarContractSource = { from: 'address'; address: string } | { from: 'contract'; contract: string };
export type StellarWasmSource = { type: 'hex'; hex: string } | { type: 'base64'; base64: string };
export type StellarOperationSpec =
  | { type: 'payment'; destination: string; amount: number; asset: StellarAssetSpec }
  | {
      type: 'invoke_contract';
      contract_address: string;
      function_name: string;
      args: ScVal[];
      auth?: StellarAuthSpec;
    }
  | {
      type: 'create_contract';
      source: StellarContractSource;
      wasm_hash: string;
      salt?: string;
      constructor_args?: ScVal[];
      auth?: StellarAuthSpec;
    }
  | { type: 'upload_wasm'; wasm: StellarWasmSource; auth?: StellarAuthSpec };

export interface StellarTransactionRequest {
  network: string;
  source_account?: string;
  operations?: StellarOperationSpec[];
  transaction_xdr?: string;
  fee_bump?: boolean;
  /** The highest fee in stroops. */
  max_fee?: number;
  memo?: StellarMemoSpec;
  valid_until?: string;
}

export type NetworkTransactionRequest = EvmTransactionRequest | SolanaTransactionRequest | StellarTransactionRequest;

export interface EvmTransactionDataSignature {
  r: string;
  s: string;
  v: number;
  sig: string;
}

/** The fields that a transaction has on every network. */
interface TransactionModel {
  id: string;
  status: TransactionState;
  status_reason?: string | null;
  created_at: string;
  sent_at?: string | null;
  confirmed_at?: string | null;
}

export interface EvmTransactionResponse extends TransactionModel {
  relayer_id: string;
  hash?: string | null;
  from: string;
  to?: string | null;
  value: string;
  data?: string | null;
  nonce?: number | null;
  gas_limit?: number | null;
  gas_price?: string | null;
  max_fee_per_gas?: string | null;
  max_priority_fee_per_gas?: string | null;
  speed?: Speed | null;
  signature?: EvmTransactionDataSignature | null;
}

export interface SolanaTransactionResponse extends TransactionModel {
  /** Base64. */
  transaction: string;
  signature?: string;
  instructions?: SolanaInstructionSpec[];
}

export interface StellarTransactionResponse extends TransactionModel {
  relayer_id: string;
  hash?: string;
  source_account: string;
  fee: number;
  /** The service returns it as decimal digits. */
  sequence_number: number | string;
  transaction_result_xdr?: string;
}

export interface SignTransactionRequestStellar {
  unsigned_xdr: string;
}
export interface SignTransactionRequestSolana {
  transaction: string;
}
export type SignTransactionRequest = number[] | SignTransactionRequestSolana | SignTransactionRequestStellar;
export interface SignTransactionResponseStellar {
  signedXdr: string;
  signature: string;
}
export interface SignTransactionResponseSolana {
  transaction: string;
  signature: string;
}
export type SignTransactionResponse = number[] | SignTransactionResponseSolana | SignTransactionResponseStellar;

export type ApiResponseRelayerResponseData = RelayerInfo;
export type RelayerResponse = RelayerInfo;
export type ApiResponseRelayerStatusData = RelayerStatus;
export type ApiResponseRelayerStatusDataOneOf = RelayerStatus & { network_type: 'evm'; nonce: string };
export type ApiResponseRelayerStatusDataOneOf1 = RelayerStatus & { network_type: 'stellar'; sequence_number: string };
export type ApiResponseRelayerStatusDataOneOf2 = RelayerStatus & { network_type: 'solana' };

export interface MaskedRpcConfig {
  url: string;
  weight: number;
}
