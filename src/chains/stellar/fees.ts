/** What the network asks of each operation at least, in stroops. */
export const BASE_FEE = 100n;

/**
 * What is bid for a transaction, in stroops: what most paid lately for each operation, within the cap. A ledger takes no
 * more of it than the cheapest that it holds has bid.
 */
export function bidFor(operations: number, usual: bigint, most: bigint): bigint {
  const count = BigInt(operations);
  const wanted = count * (usual > BASE_FEE ? usual : BASE_FEE);
  return wanted < most ? wanted : most;
}
