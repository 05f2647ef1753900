import { AppError } from '../domain/errors.ts';
import { RpcError } from '../egress/rpc/rpc-client.ts';

/** Runs a function that needs a node. Gives failures of the node the form of the service's errors. */
export async function withProvider<T>(network: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    throw error instanceof RpcError ? providerFailed(network, error.message, error) : error;
  }
}

/** The error for a network whose endpoints cannot be used, with the reason. */
export function providerFailed(network: string, reason: string, cause?: unknown): AppError<'PROVIDER_FAILED'> {
  return new AppError('PROVIDER_FAILED', { network, reason }, { cause });
}
