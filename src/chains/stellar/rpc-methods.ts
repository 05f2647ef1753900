/**
 * The methods of Soroban RPC that only read. Any other method may have an effect: it is sent to one endpoint once, and
 * a plugin whose sending is limited may not call it.
 */
const READS: ReadonlySet<string> = new Set(
  `getEvents getFeeStats getHealth getLatestLedger getLedgerEntries getLedgers getNetwork getTransaction getTransactions
  getVersionInfo simulateTransaction`.split(/\s+/),
);

export function isReadMethod(method: string): boolean {
  return READS.has(method);
}

/** Whether a method takes bytes that are signed already. */
export function takesSignedBytes(method: string): boolean {
  return method === 'sendTransaction';
}
