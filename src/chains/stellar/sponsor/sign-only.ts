import { z } from 'zod';
import { invalidRequest } from '../../../domain/errors.ts';
import { strictObjectSchema } from '../../../domain/json/issue-text.ts';
import type { WireObject } from '../../../domain/json/json.ts';
import type { RpcClient } from '../../../egress/rpc/rpc-client.ts';
import type { Signer } from '../../../signers/signer.ts';
import type { RelayerAccount } from '../../chain-client.ts';
import { parseRequestForm } from '../../request-form.ts';
import { policyFault, readPolicy, type StellarPolicy, timeoutSecondsOf } from '../configuration/policy.ts';
import { parseEnvelope } from '../form/envelope.ts';
import { accountLossFault, ownFundsFault } from '../guard/accounts.ts';
import { gaslessFault, timeBoundsFault } from '../guard/gasless.ts';
import { totalLumensOutflow } from '../message/outflow.ts';
import { encodeEnvelope } from '../message/transaction.ts';
import { accountOfMuxed, type Envelope, transactionShapeFault } from '../message/transaction-envelope.ts';
import { fundsShortage } from '../prepare.ts';
import { getAccounts, latestLedger } from '../rpc-calls.ts';
import { signEnvelope } from '../signing.ts';

/** The body of sign-transaction. */
export const signOnlyRequestSchema = strictObjectSchema({
  unsigned_xdr: z.string().meta({
    description: 'Envelope of the transaction in base64; signatures that it already has are kept',
  }),
});

/** The most signatures that an envelope has, by the protocol. */
const MAX_SIGNATURES = 20;

/** What signing a transaction that somebody else sends needs. */
interface SignOnly {
  rpc: RpcClient;
  passphrase: string;
  account: RelayerAccount;
  signer: Signer;
}

/**
 * Adds the relayer's signature to a transaction that somebody else sends. The relayer's policies hold as for
 * transactions that it sends itself, also where only an operation is the relayer's and the envelope another account's, as
 * in the pattern of channel accounts.
 * @throws AppError `INVALID_REQUEST`, `SIGNER_FAILED`
 */
export async function signOnlyTransaction(
  body: unknown,
  { rpc, passphrase, account, signer }: SignOnly,
): Promise<WireObject> {
  const { unsigned_xdr: text } = parseRequestForm(signOnlyRequestSchema, body);
  const envelope = parseEnvelope(text, 'unsigned_xdr');
  const policy = readPolicy(account.policies);
  const fault =
    faultOf(envelope, account.address, policy) ?? (await chainFaultOf(rpc, envelope, account, policy, passphrase));
  if (fault !== undefined) throw invalidRequest(`invalid \`unsigned_xdr\`: ${fault}`);
  const { transaction, signatures } = envelope;
  const { signature } = await signEnvelope(transaction, { source: account.address, passphrase }, signer);
  const own = Buffer.from(signature.toXdr());
  const isThere = signatures.some((one) => own.equals(Buffer.from(one.toXdr())));
  return {
    signedXdr: encodeEnvelope(transaction, isThere ? signatures : [...signatures, signature]),
    signature: Buffer.from(signature.signature.toBytes()).toString('base64'),
  };
}

/** Why an envelope is not signed, as far as that shows without the network; undefined where nothing is against it. */
function faultOf({ transaction, signatures, isFeeBump }: Envelope, relayer: string, policy: StellarPolicy) {
  if (isFeeBump) return 'a fee bump is sent with fee_bump, not signed here';
  if (signatures.length >= MAX_SIGNATURES) return `it has ${MAX_SIGNATURES} signatures already`;
  const shape = transactionShapeFault(transaction);
  if (shape !== undefined) return shape;
  if (policy.feePaymentStrategy === 'user') return gaslessFault(transaction, relayer);
  const isOwn = accountOfMuxed(transaction.sourceAccount) === relayer;
  const tooDear = isOwn ? policyFault(policy, { fee: BigInt(transaction.fee) }) : undefined;
  return tooDear?.reason ?? accountLossFault(transaction, relayer) ?? ownFundsFault(transaction, relayer, policy);
}

async function chainFaultOf(
  rpc: RpcClient,
  { transaction }: Envelope,
  { address, committed }: RelayerAccount,
  policy: StellarPolicy,
  passphrase: string,
): Promise<string | undefined> {
  const { sourceAccount, seqNum, fee } = transaction;
  const source = accountOfMuxed(sourceAccount);
  const [latest, { accounts }] = await rpc.onOne((read) =>
    Promise.all([latestLedger(read), getAccounts(read, [...new Set([source, address])])]),
  );
  const late = timeBoundsFault(
    transaction,
    latest,
    policy.feePaymentStrategy === 'user' ? timeoutSecondsOf(policy) : policy.timeoutSeconds,
  );
  if (late !== undefined) return late;
  const taken = totalLumensOutflow(transaction, address, passphrase);
  const cost = source === address ? BigInt(fee) + taken : taken;
  const own = accounts.get(address);
  if (cost > 0n && own !== undefined) {
    const short = fundsShortage({
      account: own,
      committed: (await committed?.()) ?? 0n,
      cost,
      minBalance: policy.minBalance,
      baseReserve: latest.baseReserve,
    });
    if (short !== undefined) return short;
  }
  const used = source === address ? undefined : accounts.get(source)?.sequence;
  return used === undefined || used < seqNum
    ? undefined
    : `Sequence ${seqNum} of ${source} is used: its last is ${used}`;
}
