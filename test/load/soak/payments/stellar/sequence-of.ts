import { Keypair, xdr } from '@stellar/stellar-sdk';
import type { StellarEndpoint } from '../../../../doubles/stellar/stellar-net.ts';

type Node = Pick<StellarEndpoint, 'rpc'>;

/** The last sequence that an account has used. @throws if the account does not exist */
export async function sequenceOf(node: Node, address: string): Promise<bigint> {
  return (await accountOf(node, address)).seqNum;
}

/** The balance of an account in stroops; 0 if it does not exist. */
export async function balanceOf(node: Node, address: string): Promise<bigint> {
  return (await entryOf(node, address))?.balance ?? 0n;
}

async function accountOf(node: Node, address: string): Promise<xdr.AccountEntry> {
  const found = await entryOf(node, address);
  if (found === undefined) throw new Error(`${address} is not there`);
  return found;
}

async function entryOf(node: Node, address: string): Promise<xdr.AccountEntry | undefined> {
  const accountId = Keypair.fromPublicKey(address).xdrAccountId();
  const key = xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId })).toXdr('base64');
  const { entries } = (await node.rpc('getLedgerEntries', { keys: [key] })) as { entries: { xdr: string }[] };
  const [found] = entries.map((entry) => xdr.LedgerEntryData.fromXdr(entry.xdr, 'base64'));
  return found?.type === 'account' ? found.account : undefined;
}
