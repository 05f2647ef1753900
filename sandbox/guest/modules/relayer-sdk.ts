/**
 * What `import … from '@openzeppelin/relayer-sdk'` gives a plugin: the error helper, the enums as objects, and the
 * authors' types. Written from the documented names and values alone.
 */
import type { PluginErrorShape } from '../plugin-api.ts';
import { PluginError as OwnPluginError, PLUGIN_ERROR_CLASS } from '../plugin-error.ts';

export type {
  Json,
  JsonRpcRequest,
  JsonRpcResponse,
  PluginAPI,
  PluginContext,
  PluginErrorShape,
  PluginHeaders,
  PluginKVStore,
  Relayer,
  RelayerInfo,
  RelayerStatus,
  SentTransaction,
  TransactionResponse,
  TransactionState,
  WaitOptions,
} from '../plugin-api.ts';

const registered = (globalThis as { [PLUGIN_ERROR_CLASS]?: typeof OwnPluginError })[PLUGIN_ERROR_CLASS];

/** The class of the running sandbox, so that its own errors are instances too; elsewhere the same class of this module. */
export const PluginError = registered ?? OwnPluginError;
export type PluginError = OwnPluginError;

/** Makes an error whose code, HTTP status and details reach the caller of the plugin. */
export function pluginError(message: string, options: PluginErrorShape = {}): PluginError {
  return new PluginError(message, options);
}

export const Speed = Object.freeze({
  FASTEST: 'fastest',
  FAST: 'fast',
  AVERAGE: 'average',
  SAFE_LOW: 'safeLow',
} as const);
export type Speed = (typeof Speed)[keyof typeof Speed];

export const TransactionStatus = Object.freeze({
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

export const RelayerNetworkType = Object.freeze({
  EVM: 'evm',
  SOLANA: 'solana',
  STELLAR: 'stellar',
} as const);
export type RelayerNetworkType = (typeof RelayerNetworkType)[keyof typeof RelayerNetworkType];

export const LogLevel = Object.freeze({
  LOG: 'log',
  INFO: 'info',
  ERROR: 'error',
  WARN: 'warn',
  DEBUG: 'debug',
  RESULT: 'result',
} as const);
export type LogLevel = (typeof LogLevel)[keyof typeof LogLevel];

export const SignerType = Object.freeze({
  LOCAL: 'local',
  AWS_KMS: 'aws_kms',
  GOOGLE_CLOUD_KMS: 'google_cloud_kms',
  VAULT: 'vault',
  VAULT_TRANSIT: 'vault_transit',
  TURNKEY: 'turnkey',
  CDP: 'cdp',
} as const);
export type SignerType = (typeof SignerType)[keyof typeof SignerType];
