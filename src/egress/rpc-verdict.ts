import type { RpcError } from './rpc-client.ts';

/** What a failed read means for the tries that are left. */
export interface RpcVerdict {
  /**
   * `final`: a node has answered, another try would hear the same. `elsewhere`: this endpoint will not serve, another
   * may. `again`: any endpoint may serve, this one too after a while.
   */
  retry: 'final' | 'elsewhere' | 'again';
  /** Whether it speaks against the endpoint. */
  countsAgainst: boolean;
}

const FINAL: RpcVerdict = { retry: 'final', countsAgainst: false };
const AGAIN: RpcVerdict = { retry: 'again', countsAgainst: true };
const ELSEWHERE: RpcVerdict = { retry: 'elsewhere', countsAgainst: true };

/**
 * Answers about a transaction or a call that some nodes and gateways wrap in -32603 or -32002 (internal error, resource
 * unavailable). Taking them for trouble of the node would pause every endpoint in turn.
 */
const NODE_ANSWER =
  /nonce|already known|same hash was already imported|\bknown transaction|underpriced|insufficient funds|revert|intrinsic gas|gas limit/i;
const OVERLOAD = /rate.?limit|too many requests|capacity limit|compute units per second/i;

/** Judges a failed call. */
export function judgeFailure(error: RpcError): RpcVerdict {
  switch (error.kind) {
    case 'timeout':
    case 'transport':
    case 'malformed':
      return AGAIN;
    case 'blocked':
      return { retry: 'elsewhere', countsAgainst: false };
    case 'http':
      return judgeStatus(error.status ?? 0);
    case 'node':
      return judgeNodeError(error);
    default:
      return error.kind satisfies never;
  }
}

function judgeStatus(status: number): RpcVerdict {
  if (status === 408 || status === 425 || status === 429) return AGAIN;
  if (status >= 500) return status === 501 || status === 505 ? ELSEWHERE : AGAIN;
  return { retry: 'elsewhere', countsAgainst: [401, 403, 404, 410].includes(status) };
}

function judgeNodeError({ code, message, status = 200 }: RpcError): RpcVerdict {
  if (NODE_ANSWER.test(message)) return FINAL;
  if (code === -32005 || code === -32603 || code === -32002) return AGAIN;
  return status === 429 || status >= 500 || OVERLOAD.test(message) ? AGAIN : FINAL;
}
