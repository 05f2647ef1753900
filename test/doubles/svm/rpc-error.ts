/** An error as a real node words it. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
  }
}

/** Agave's `rpc-client-api/src/custom_error.rs` and JSON-RPC's own. */
export const CODES = {
  blockCleanedUp: -32001,
  preflight: -32002,
  signatures: -32003,
  blockNotAvailable: -32004,
  unhealthy: -32005,
  slotSkipped: -32007,
  unsupportedVersion: -32015,
  minContextSlot: -32016,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  parse: -32700,
} as const;

/** Parameters that no node takes. */
export function invalidParams(message: string): RpcError {
  return new RpcError(CODES.invalidParams, message);
}
