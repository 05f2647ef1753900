/** Requests and answers of each network. The names are those of the public SDK. */
import type { RelayerInfo, RelayerStatus, TransactionState } from '../plugin-api.ts';
import type { Speed } from './names.ts';

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
