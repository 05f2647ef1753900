import { AppError, invalidRequest, messageOf } from '../../../domain/errors.ts';
import { MarketFailure } from '../../../egress/market-client.ts';
import { RpcError } from '../../../egress/rpc/rpc-client.ts';
import { OwnRefusal } from '../../chain-client.ts';
import { MalformedTransaction } from '../message/compiled-message.ts';

/** The reference's classes: code, tag, and how their texts begin. */
const CLASSES = {
  params: { code: -32_602, tag: 'INVALID_PARAMS', prefix: '' },
  estimation: {
    code: -32_001,
    tag: 'ESTIMATION_ERROR',
    prefix: 'Failed to estimate the fee due to internal or network issues: ',
  },
  funds: {
    code: -32_002,
    tag: 'INSUFFICIENT_FUNDS',
    prefix: 'The sender does not have enough funds for the transfer: ',
  },
  signature: { code: -32_005, tag: 'SIGNATURE_ERROR', prefix: 'Failed to sign the transaction: ' },
  send: { code: -32_006, tag: 'SEND_ERROR', prefix: 'Failed to submit the transaction to the blockchain: ' },
  provider: { code: -32_006, tag: 'PREPARATION_ERROR', prefix: 'Failed to prepare the transfer transaction: ' },
  validation: { code: -32_013, tag: 'PREPARATION_ERROR', prefix: 'Failed to prepare the transfer transaction: ' },
  encoding: { code: -32_601, tag: 'INVALID_PARAMS', prefix: 'The transaction parameter is invalid or missing: ' },
  token: { code: -32_601, tag: 'PREPARATION_ERROR', prefix: 'Invalid Token Account: ' },
} as const;

export type GaslessRefusalKind = keyof typeof CLASSES;

/** Why a gasless method is refused. */
export class GaslessRefusal extends OwnRefusal {
  /** The text without the opening words of its class. */
  readonly detail: string;

  constructor(kind: GaslessRefusalKind, detail: string, cause?: unknown) {
    const { code, tag, prefix } = CLASSES[kind];
    super(code, tag, `${prefix}${detail}`, cause);
    this.detail = detail;
  }
}

/** The market's error codes for a trade that it cannot price. */
const UNTRADED: ReadonlySet<string | undefined> = new Set(['TOKEN_NOT_TRADABLE', 'COULD_NOT_FIND_ANY_ROUTE']);

/** Whether a market has no price because nobody trades the token, or not in this amount. */
export function isUntraded(error: unknown): boolean {
  return error instanceof MarketFailure && UNTRADED.has(error.code);
}

/**
 * Runs a gasless method, and turns its failures into the reference's classes of refusals.
 * @param trouble the class of a node's failure
 * @throws Refusal
 */
export async function withGaslessRefusals<T>(
  use: () => Promise<T>,
  trouble: GaslessRefusalKind = 'provider',
): Promise<T> {
  try {
    return await use();
  } catch (error) {
    throw gaslessRefusalOf(error, trouble) ?? error;
  }
}

/** The refusal that a failure becomes; undefined for a fault of our own. */
export function gaslessRefusalOf(error: unknown, trouble: GaslessRefusalKind = 'provider'): GaslessRefusal | undefined {
  if (error instanceof GaslessRefusal) return error;
  if (error instanceof MalformedTransaction) return new GaslessRefusal('encoding', error.message, error);
  if (error instanceof MarketFailure) return new GaslessRefusal('estimation', error.message, error);
  if (error instanceof RpcError) return new GaslessRefusal(trouble, error.message, error);
  if (!(error instanceof AppError)) return undefined;
  switch (error.code) {
    case 'INVALID_REQUEST':
      if (error.cause instanceof GaslessRefusal) return error.cause;
      return new GaslessRefusal(isMalformed(error) ? 'encoding' : 'validation', error.message, error);
    case 'SIGNER_FAILED':
      return new GaslessRefusal('signature', error.message, error);
    case 'PROVIDER_FAILED':
      return new GaslessRefusal(trouble, error.message, error);
    default:
      return undefined;
  }
}

function isMalformed({ cause }: AppError): boolean {
  return cause instanceof MalformedTransaction;
}

/**
 * {@link withGaslessRefusals} for endpoints that do not speak JSON-RPC: failures become errors of the API.
 * @throws AppError, RpcError
 */
export async function withApiErrors<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await withGaslessRefusals(use);
  } catch (error) {
    if (!(error instanceof GaslessRefusal)) throw error;
    const { cause, detail } = error;
    if (cause instanceof AppError || cause instanceof RpcError) throw cause;
    if (cause instanceof MarketFailure && !isUntraded(cause)) {
      throw new AppError('UNAVAILABLE', { reason: `The market gave no price: ${messageOf(cause)}` }, { cause });
    }
    throw invalidRequest(detail, error);
  }
}
