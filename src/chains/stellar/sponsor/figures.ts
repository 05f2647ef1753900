/** How long a built transaction is valid, in seconds: the reference's value. */
export const VALIDITY_SECONDS = 120;

/** How many decimals every asset of the ledger has. */
const DECIMALS = 7;

/** An amount in whole units, with as many decimals as it needs and never an exponent. */
export function unitsText(amount: bigint): string {
  return ratioText(amount, 10n ** BigInt(DECIMALS), DECIMALS);
}

/** How much of an asset's smallest unit one stroop is worth. */
export function tokensPerStroopText(tokens: bigint, stroops: bigint): string {
  return ratioText(tokens, stroops, RATE_DECIMALS);
}

const RATE_DECIMALS = 18;

/** A quotient, cut off after this many decimals. */
function ratioText(dividend: bigint, divisor: bigint, decimals: number): string {
  const digits = ((dividend * 10n ** BigInt(decimals)) / divisor).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, -decimals);
  const part = digits.slice(-decimals).replace(/0+$/, '');
  return part === '' ? whole : `${whole}.${part}`;
}

/** An amount plus a percentage, rounded up. The percentage is a 32-bit float, which has no more than seven digits. */
export function withMargin(amount: bigint, percent: number): bigint {
  const parts = BigInt(Math.round(percent * 1e5));
  return (amount * (WHOLE + parts) + WHOLE - 1n) / WHOLE;
}

/** An amount less a percentage, rounded up. */
export function withoutTolerance(amount: bigint, percent: number): bigint {
  const parts = BigInt(Math.round(percent * 1e5));
  return parts >= WHOLE ? 0n : (amount * (WHOLE - parts) + WHOLE - 1n) / WHOLE;
}

const WHOLE = 10_000_000n;

/** Reads an amount as Horizon writes it, with up to seven decimals. @throws TypeError */
export function parseHorizonAmount(text: unknown): bigint {
  const [, whole, part = ''] = (typeof text === 'string' && /^(\d{1,12})(?:\.(\d{1,7}))?$/.exec(text)) || [];
  if (whole === undefined) throw new TypeError('not an amount');
  return BigInt(whole) * 10n ** BigInt(DECIMALS) + BigInt(part.padEnd(DECIMALS, '0'));
}
