const ONE = 10_000_000n;

/** Writes stroops as Horizon does: always with seven decimal places. */
export function amountOf(stroops: bigint): string {
  return `${stroops / ONE}.${String(stroops % ONE).padStart(7, '0')}`;
}

/** The amount in stroops; undefined if the text is no amount. */
export function stroopsIn(amount: string): bigint | undefined {
  const match = /^(\d+)(?:\.(\d{1,7}))?$/.exec(amount);
  if (match === null) return undefined;
  const stroops = BigInt(match[1] ?? '') * ONE + BigInt((match[2] ?? '').padEnd(7, '0'));
  return stroops < 2n ** 63n ? stroops : undefined;
}

/** A closing time in ISO format, in whole seconds. */
export function timeOf(seconds: bigint): string {
  return new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z');
}
