/** The enums of the public SDK, as objects. The names are those in the SDK's documents, the values those of the API. */

export const ComponentStatus = /* @__PURE__ */ Object.freeze({
  HEALTHY: 'healthy',
  DEGRADED: 'degraded',
  UNHEALTHY: 'unhealthy',
} as const);
export type ComponentStatus = (typeof ComponentStatus)[keyof typeof ComponentStatus];

export const LogLevel = /* @__PURE__ */ Object.freeze({
  LOG: 'log',
  INFO: 'info',
  ERROR: 'error',
  WARN: 'warn',
  DEBUG: 'debug',
  RESULT: 'result',
} as const);
export type LogLevel = (typeof LogLevel)[keyof typeof LogLevel];

export const NotificationType = /* @__PURE__ */ Object.freeze({ WEBHOOK: 'webhook' } as const);
export type NotificationType = (typeof NotificationType)[keyof typeof NotificationType];

export const RelayerNetworkType = /* @__PURE__ */ Object.freeze({
  EVM: 'evm',
  SOLANA: 'solana',
  STELLAR: 'stellar',
} as const);
export type RelayerNetworkType = (typeof RelayerNetworkType)[keyof typeof RelayerNetworkType];

export const SignerType = /* @__PURE__ */ Object.freeze({
  LOCAL: 'local',
  AWS_KMS: 'aws_kms',
  GOOGLE_CLOUD_KMS: 'google_cloud_kms',
  VAULT: 'vault',
  VAULT_TRANSIT: 'vault_transit',
  TURNKEY: 'turnkey',
  CDP: 'cdp',
} as const);
export type SignerType = (typeof SignerType)[keyof typeof SignerType];

export const SignerTypeRequest = /* @__PURE__ */ Object.freeze({
  PLAIN: 'plain',
  AWS_KMS: 'aws_kms',
  VAULT: 'vault',
  VAULT_TRANSIT: 'vault_transit',
  TURNKEY: 'turnkey',
  CDP: 'cdp',
  GOOGLE_CLOUD_KMS: 'google_cloud_kms',
} as const);
export type SignerTypeRequest = (typeof SignerTypeRequest)[keyof typeof SignerTypeRequest];

export const SolanaFeePaymentStrategy = /* @__PURE__ */ Object.freeze({ USER: 'user', RELAYER: 'relayer' } as const);
export type SolanaFeePaymentStrategy = (typeof SolanaFeePaymentStrategy)[keyof typeof SolanaFeePaymentStrategy];

export const SolanaSwapStrategy = /* @__PURE__ */ Object.freeze({
  JUPITER_SWAP: 'jupiter-swap',
  JUPITER_ULTRA: 'jupiter-ultra',
  NOOP: 'noop',
} as const);
export type SolanaSwapStrategy = (typeof SolanaSwapStrategy)[keyof typeof SolanaSwapStrategy];

export const Speed = /* @__PURE__ */ Object.freeze({
  FASTEST: 'fastest',
  FAST: 'fast',
  AVERAGE: 'average',
  SAFE_LOW: 'safeLow',
} as const);
export type Speed = (typeof Speed)[keyof typeof Speed];

export const StellarFeePaymentStrategy = /* @__PURE__ */ Object.freeze({ USER: 'user', RELAYER: 'relayer' } as const);
export type StellarFeePaymentStrategy = (typeof StellarFeePaymentStrategy)[keyof typeof StellarFeePaymentStrategy];

export const StellarSwapStrategy = /* @__PURE__ */ Object.freeze({
  ORDER_BOOK: 'order-book',
  SOROSWAP: 'soroswap',
} as const);
export type StellarSwapStrategy = (typeof StellarSwapStrategy)[keyof typeof StellarSwapStrategy];

export const TransactionStatus = /* @__PURE__ */ Object.freeze({
  CANCELED: 'canceled',
  PENDING: 'pending',
  SENT: 'sent',
  SUBMITTED: 'submitted',
  MINED: 'mined',
  CONFIRMED: 'confirmed',
  FAILED: 'failed',
  EXPIRED: 'expired',
} as const);
export type TransactionStatus = (typeof TransactionStatus)[keyof typeof TransactionStatus];
