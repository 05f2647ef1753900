/** Enums with one value each. The public SDK uses them to tell the members of its unions apart. */

export const ApiResponseRelayerStatusDataOneOfNetworkTypeEnum = /* @__PURE__ */ Object.freeze({ EVM: 'evm' } as const);
export type ApiResponseRelayerStatusDataOneOfNetworkTypeEnum =
  (typeof ApiResponseRelayerStatusDataOneOfNetworkTypeEnum)[keyof typeof ApiResponseRelayerStatusDataOneOfNetworkTypeEnum];

export const ApiResponseRelayerStatusDataOneOf1NetworkTypeEnum = /* @__PURE__ */ Object.freeze({
  STELLAR: 'stellar',
} as const);
export type ApiResponseRelayerStatusDataOneOf1NetworkTypeEnum =
  (typeof ApiResponseRelayerStatusDataOneOf1NetworkTypeEnum)[keyof typeof ApiResponseRelayerStatusDataOneOf1NetworkTypeEnum];

export const ApiResponseRelayerStatusDataOneOf2NetworkTypeEnum = /* @__PURE__ */ Object.freeze({
  SOLANA: 'solana',
} as const);
export type ApiResponseRelayerStatusDataOneOf2NetworkTypeEnum =
  (typeof ApiResponseRelayerStatusDataOneOf2NetworkTypeEnum)[keyof typeof ApiResponseRelayerStatusDataOneOf2NetworkTypeEnum];

export const AssetSpecOneOfTypeEnum = /* @__PURE__ */ Object.freeze({ NATIVE: 'native' } as const);
export type AssetSpecOneOfTypeEnum = (typeof AssetSpecOneOfTypeEnum)[keyof typeof AssetSpecOneOfTypeEnum];

export const AssetSpecOneOf1TypeEnum = /* @__PURE__ */ Object.freeze({ CREDIT4: 'credit4' } as const);
export type AssetSpecOneOf1TypeEnum = (typeof AssetSpecOneOf1TypeEnum)[keyof typeof AssetSpecOneOf1TypeEnum];

export const AssetSpecOneOf2TypeEnum = /* @__PURE__ */ Object.freeze({ CREDIT12: 'credit12' } as const);
export type AssetSpecOneOf2TypeEnum = (typeof AssetSpecOneOf2TypeEnum)[keyof typeof AssetSpecOneOf2TypeEnum];

export const AuthSpecOneOfTypeEnum = /* @__PURE__ */ Object.freeze({ NONE: 'none' } as const);
export type AuthSpecOneOfTypeEnum = (typeof AuthSpecOneOfTypeEnum)[keyof typeof AuthSpecOneOfTypeEnum];

export const AuthSpecOneOf1TypeEnum = /* @__PURE__ */ Object.freeze({ SOURCE_ACCOUNT: 'source_account' } as const);
export type AuthSpecOneOf1TypeEnum = (typeof AuthSpecOneOf1TypeEnum)[keyof typeof AuthSpecOneOf1TypeEnum];

export const AuthSpecOneOf2TypeEnum = /* @__PURE__ */ Object.freeze({ ADDRESSES: 'addresses' } as const);
export type AuthSpecOneOf2TypeEnum = (typeof AuthSpecOneOf2TypeEnum)[keyof typeof AuthSpecOneOf2TypeEnum];

export const AuthSpecOneOf3TypeEnum = /* @__PURE__ */ Object.freeze({ XDR: 'xdr' } as const);
export type AuthSpecOneOf3TypeEnum = (typeof AuthSpecOneOf3TypeEnum)[keyof typeof AuthSpecOneOf3TypeEnum];

export const ContractSourceOneOfFromEnum = /* @__PURE__ */ Object.freeze({ ADDRESS: 'address' } as const);
export type ContractSourceOneOfFromEnum =
  (typeof ContractSourceOneOfFromEnum)[keyof typeof ContractSourceOneOfFromEnum];

export const ContractSourceOneOf1FromEnum = /* @__PURE__ */ Object.freeze({ CONTRACT: 'contract' } as const);
export type ContractSourceOneOf1FromEnum =
  (typeof ContractSourceOneOf1FromEnum)[keyof typeof ContractSourceOneOf1FromEnum];

export const DisabledReasonOneOfTypeEnum = /* @__PURE__ */ Object.freeze({
  NONCE_SYNC_FAILED: 'NonceSyncFailed',
} as const);
export type DisabledReasonOneOfTypeEnum =
  (typeof DisabledReasonOneOfTypeEnum)[keyof typeof DisabledReasonOneOfTypeEnum];

export const DisabledReasonOneOf1TypeEnum = /* @__PURE__ */ Object.freeze({
  RPC_VALIDATION_FAILED: 'RpcValidationFailed',
} as const);
export type DisabledReasonOneOf1TypeEnum =
  (typeof DisabledReasonOneOf1TypeEnum)[keyof typeof DisabledReasonOneOf1TypeEnum];

export const DisabledReasonOneOf2TypeEnum = /* @__PURE__ */ Object.freeze({
  BALANCE_CHECK_FAILED: 'BalanceCheckFailed',
} as const);
export type DisabledReasonOneOf2TypeEnum =
  (typeof DisabledReasonOneOf2TypeEnum)[keyof typeof DisabledReasonOneOf2TypeEnum];

export const DisabledReasonOneOf3TypeEnum = /* @__PURE__ */ Object.freeze({
  SEQUENCE_SYNC_FAILED: 'SequenceSyncFailed',
} as const);
export type DisabledReasonOneOf3TypeEnum =
  (typeof DisabledReasonOneOf3TypeEnum)[keyof typeof DisabledReasonOneOf3TypeEnum];

export const DisabledReasonOneOf4TypeEnum = /* @__PURE__ */ Object.freeze({ MULTIPLE: 'Multiple' } as const);
export type DisabledReasonOneOf4TypeEnum =
  (typeof DisabledReasonOneOf4TypeEnum)[keyof typeof DisabledReasonOneOf4TypeEnum];

export const MemoSpecOneOfTypeEnum = /* @__PURE__ */ Object.freeze({ NONE: 'none' } as const);
export type MemoSpecOneOfTypeEnum = (typeof MemoSpecOneOfTypeEnum)[keyof typeof MemoSpecOneOfTypeEnum];

export const MemoSpecOneOf1TypeEnum = /* @__PURE__ */ Object.freeze({ TEXT: 'text' } as const);
export type MemoSpecOneOf1TypeEnum = (typeof MemoSpecOneOf1TypeEnum)[keyof typeof MemoSpecOneOf1TypeEnum];

export const MemoSpecOneOf2TypeEnum = /* @__PURE__ */ Object.freeze({ ID: 'id' } as const);
export type MemoSpecOneOf2TypeEnum = (typeof MemoSpecOneOf2TypeEnum)[keyof typeof MemoSpecOneOf2TypeEnum];

export const MemoSpecOneOf3TypeEnum = /* @__PURE__ */ Object.freeze({ HASH: 'hash' } as const);
export type MemoSpecOneOf3TypeEnum = (typeof MemoSpecOneOf3TypeEnum)[keyof typeof MemoSpecOneOf3TypeEnum];

export const MemoSpecOneOf4TypeEnum = /* @__PURE__ */ Object.freeze({ RETURN: 'return' } as const);
export type MemoSpecOneOf4TypeEnum = (typeof MemoSpecOneOf4TypeEnum)[keyof typeof MemoSpecOneOf4TypeEnum];

export const OperationSpecOneOfTypeEnum = /* @__PURE__ */ Object.freeze({ PAYMENT: 'payment' } as const);
export type OperationSpecOneOfTypeEnum = (typeof OperationSpecOneOfTypeEnum)[keyof typeof OperationSpecOneOfTypeEnum];

export const OperationSpecOneOf1TypeEnum = /* @__PURE__ */ Object.freeze({
  INVOKE_CONTRACT: 'invoke_contract',
} as const);
export type OperationSpecOneOf1TypeEnum =
  (typeof OperationSpecOneOf1TypeEnum)[keyof typeof OperationSpecOneOf1TypeEnum];

export const OperationSpecOneOf2TypeEnum = /* @__PURE__ */ Object.freeze({
  CREATE_CONTRACT: 'create_contract',
} as const);
export type OperationSpecOneOf2TypeEnum =
  (typeof OperationSpecOneOf2TypeEnum)[keyof typeof OperationSpecOneOf2TypeEnum];

export const OperationSpecOneOf3TypeEnum = /* @__PURE__ */ Object.freeze({ UPLOAD_WASM: 'upload_wasm' } as const);
export type OperationSpecOneOf3TypeEnum =
  (typeof OperationSpecOneOf3TypeEnum)[keyof typeof OperationSpecOneOf3TypeEnum];

export const SolanaRpcRequestOneOfMethodEnum = /* @__PURE__ */ Object.freeze({ FEE_ESTIMATE: 'feeEstimate' } as const);
export type SolanaRpcRequestOneOfMethodEnum =
  (typeof SolanaRpcRequestOneOfMethodEnum)[keyof typeof SolanaRpcRequestOneOfMethodEnum];

export const SolanaRpcRequestOneOf1MethodEnum = /* @__PURE__ */ Object.freeze({
  TRANSFER_TRANSACTION: 'transferTransaction',
} as const);
export type SolanaRpcRequestOneOf1MethodEnum =
  (typeof SolanaRpcRequestOneOf1MethodEnum)[keyof typeof SolanaRpcRequestOneOf1MethodEnum];

export const SolanaRpcRequestOneOf2MethodEnum = /* @__PURE__ */ Object.freeze({
  PREPARE_TRANSACTION: 'prepareTransaction',
} as const);
export type SolanaRpcRequestOneOf2MethodEnum =
  (typeof SolanaRpcRequestOneOf2MethodEnum)[keyof typeof SolanaRpcRequestOneOf2MethodEnum];

export const SolanaRpcRequestOneOf3MethodEnum = /* @__PURE__ */ Object.freeze({
  SIGN_TRANSACTION: 'signTransaction',
} as const);
export type SolanaRpcRequestOneOf3MethodEnum =
  (typeof SolanaRpcRequestOneOf3MethodEnum)[keyof typeof SolanaRpcRequestOneOf3MethodEnum];

export const SolanaRpcRequestOneOf4MethodEnum = /* @__PURE__ */ Object.freeze({
  SIGN_AND_SEND_TRANSACTION: 'signAndSendTransaction',
} as const);
export type SolanaRpcRequestOneOf4MethodEnum =
  (typeof SolanaRpcRequestOneOf4MethodEnum)[keyof typeof SolanaRpcRequestOneOf4MethodEnum];

export const SolanaRpcRequestOneOf5MethodEnum = /* @__PURE__ */ Object.freeze({
  GET_SUPPORTED_TOKENS: 'getSupportedTokens',
} as const);
export type SolanaRpcRequestOneOf5MethodEnum =
  (typeof SolanaRpcRequestOneOf5MethodEnum)[keyof typeof SolanaRpcRequestOneOf5MethodEnum];

export const SolanaRpcRequestOneOf6MethodEnum = /* @__PURE__ */ Object.freeze({
  GET_FEATURES_ENABLED: 'getFeaturesEnabled',
} as const);
export type SolanaRpcRequestOneOf6MethodEnum =
  (typeof SolanaRpcRequestOneOf6MethodEnum)[keyof typeof SolanaRpcRequestOneOf6MethodEnum];

export const SolanaRpcRequestOneOf7MethodEnum = /* @__PURE__ */ Object.freeze({
  RAW_RPC_REQUEST: 'rawRpcRequest',
} as const);
export type SolanaRpcRequestOneOf7MethodEnum =
  (typeof SolanaRpcRequestOneOf7MethodEnum)[keyof typeof SolanaRpcRequestOneOf7MethodEnum];

export const SolanaRpcResultOneOf7MethodEnum = /* @__PURE__ */ Object.freeze({ RAW_RPC: 'rawRpc' } as const);
export type SolanaRpcResultOneOf7MethodEnum =
  (typeof SolanaRpcResultOneOf7MethodEnum)[keyof typeof SolanaRpcResultOneOf7MethodEnum];
