import { Keypair, xdr } from '@stellar/stellar-sdk/base';
import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import { addressValue, amountOfValue, callOf } from '../message/contract-call.ts';
import { simulate } from './simulation.ts';

/** The return value of a contract's function, called without effect; a text says why there is none. */
export async function askContract(
  read: ReadOne,
  source: string,
  { contract, name, args }: { contract: string; name: string; args: readonly xdr.ScVal[] },
): Promise<xdr.ScVal | string> {
  const operation = callOf(contract, name, args);
  const muxed = Keypair.fromPublicKey(source).xdrMuxedAccount();
  const found = await simulate(read, { source: muxed, operation, data: null, isBare: false });
  if (found.kind === 'failed') return found.reason;
  if (found.kind === 'archived') return `${contract} has been archived`;
  const { returned } = found;
  return returned === null ? `${name} of ${contract} gives nothing back` : xdr.ScVal.fromXdr(returned, 'base64');
}

/** How much an account has of a contract's token (SEP-41); zero where the contract does not tell. */
export async function tokenBalance(read: ReadOne, token: string, address: string): Promise<bigint> {
  const told = await askContract(read, address, { contract: token, name: 'balance', args: [addressValue(address)] });
  return typeof told === 'string' ? 0n : amountOfValue(told);
}

/** Whether a contract is a token: it tells how many decimals it has. */
export async function isToken(read: ReadOne, token: string, address: string): Promise<boolean> {
  const told = await askContract(read, address, { contract: token, name: 'decimals', args: [] });
  return typeof told !== 'string' && told.type === 'scvU32';
}
