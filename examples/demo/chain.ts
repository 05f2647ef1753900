import { JsonRpcProvider, toQuantity } from 'ethers';

/** The block of a mined transaction, and its outcome. */
export interface MinedAt {
  hash: string;
  block: number;
  gasUsed: string;
  status: 'success' | 'reverted';
}

/** Gives the account one ether. Only a local node allows this. */
export async function fund(rpcUrl: string, address: string): Promise<void> {
  await withNode(rpcUrl, (node) => node.send('anvil_setBalance', [address, toQuantity(10n ** 18n)]));
}

/** Asks the node, not the service, for the receipt of a mined transaction. */
export async function receiptOf(rpcUrl: string, hash: string): Promise<MinedAt> {
  const receipt = await withNode(rpcUrl, (node) => node.getTransactionReceipt(hash));
  if (receipt === null) throw new Error(`the node has no receipt for ${hash}`);
  return {
    hash: receipt.hash,
    block: receipt.blockNumber,
    gasUsed: receipt.gasUsed.toString(),
    status: receipt.status === 1 ? 'success' : 'reverted',
  };
}

async function withNode<T>(rpcUrl: string, use: (node: JsonRpcProvider) => Promise<T>): Promise<T> {
  const node = new JsonRpcProvider(rpcUrl, undefined, { staticNetwork: true });
  try {
    return await use(node);
  } finally {
    node.destroy();
  }
}
