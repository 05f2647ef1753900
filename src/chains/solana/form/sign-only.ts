import { z } from 'zod';
import { invalidRequest } from '../../../domain/errors.ts';
import type { WireObject } from '../../../domain/json/json.ts';
import { strictForm } from '../../../domain/json/unknown-field.ts';
import type { RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { Signer } from '../../../signers/signer.ts';
import type { Account } from '../../account.ts';
import { readForm } from '../../request-form.ts';
import { checkOnChain } from '../prepare.ts';
import { readUnfinished } from '../request.ts';
import { signMessageAs } from '../signing.ts';

/** The body of sign-transaction. */
export const unsentRequestSchema = strictForm({
  transaction: z.string().meta({ description: 'Base64 of a transaction that the relayer pays for' }),
});

/**
 * Signs a transaction that is not sent here, under the same policies as one that is: who has the bytes can send them. The
 * others may sign after the relayer.
 * @throws AppError `INVALID_REQUEST`, `SIGNER_FAILED`
 */
export async function signUnsent(rpc: RpcClient, body: unknown, account: Account, signer: Signer): Promise<WireObject> {
  const { transaction } = readForm(unsentRequestSchema, body);
  const { messageBytes, signatures } = readUnfinished(transaction, account);
  const checked = await checkOnChain(rpc, transaction, account);
  if (checked !== undefined) throw invalidRequest(checked);
  return signMessageAs(account.address, messageBytes, signatures, signer);
}
