import { AppError } from '../domain/errors.ts';
import { RpcError } from '../egress/rpc/rpc-client.ts';

/** Runs what needs a node, and gives its failures the service's form. */
export async function withProvider<T>(network: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    throw error instanceof RpcError ? providerFailed(network, error.message, error) : error;
  }
}

/** The endpoints of a network cannot be used, and why. */
export function providerFailed(network: string, reason: string, cause?: unknown): AppError<'PROVIDER_FAILED'> {
  return new AppError('PROVIDER_FAILED', { network, reason }, { cause });
}
