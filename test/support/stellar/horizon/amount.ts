const ONE = 10_000_000n;

/** Stroops as Horizon writes them: always seven digits behind the point. */
export function amountOf(stroops: bigint): string {
  return `${stroops / ONE}.${String(stroops % ONE).padStart(7, '0')}`;
}

/** Undefined for what is no amount. */
export function stroopsIn(amount: string): bigint | undefined {
  const match = /^(\d+)(?:\.(\d{1,7}))?$/.exec(amount);
  if (match === null) return undefined;
  const stroops = BigInt(match[1] ?? '') * ONE + BigInt((match[2] ?? '').padEnd(7, '0'));
  return stroops < 2n ** 63n ? stroops : undefined;
}

/** A closing time, to the second. */
export function timeOf(seconds: bigint): string {
  return new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z');
}
